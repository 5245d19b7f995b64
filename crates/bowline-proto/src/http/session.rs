//! HTTP sessions, for revisions that have them.

use std::fmt;

use super::{
    Headers,
    header::{name, single_value, trim_ows},
};
use crate::jsonrpc::{ErrorObject, code};

/// The longest session id we accept: signed tokens fit, and the header fits
/// into the limits of common servers.
pub const MAX_SESSION_ID_LEN: usize = 4096;

/// A session id: visible ASCII, so it is its own header value.
///
/// Anyone who has it can join the session, so `Debug` does not show it.
///
/// ```
/// use bowline_proto::http::SessionId;
///
/// let id = SessionId::new("1868a90c").unwrap();
/// assert_eq!(id.as_str(), "1868a90c");
/// assert_eq!(format!("{id:?}"), "SessionId(8 bytes)");
/// assert!(SessionId::new("with space").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Box<str>);

impl SessionId {
    /// Creates an id that a server wants to use, or that a peer sent.
    ///
    /// # Errors
    ///
    /// Returns an error if it is empty, too long, or not visible ASCII.
    pub fn new(id: &str) -> Result<Self, SessionIdError> {
        match id.len() {
            0 => Err(SessionIdError::Empty),
            length if length > MAX_SESSION_ID_LEN => Err(SessionIdError::TooLong),
            _ if !id.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(SessionIdError::NotVisibleAscii)
            }
            _ => Ok(Self(id.into())),
        }
    }

    /// Returns the id as the header value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_header(raw: &[u8]) -> Result<Self, SessionIdError> {
        let id = str::from_utf8(trim_ows(raw)).map_err(|_| SessionIdError::NotVisibleAscii)?;
        Self::new(id)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({} bytes)", self.0.len())
    }
}

/// Why a string is not a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionIdError {
    /// It is empty.
    Empty,
    /// It is longer than [`MAX_SESSION_ID_LEN`].
    TooLong,
    /// It has characters other than visible ASCII.
    NotVisibleAscii,
    /// The header occurs twice.
    Repeated,
}

impl fmt::Display for SessionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the session id is empty"),
            Self::TooLong => write!(
                f,
                "the session id exceeds the limit of {MAX_SESSION_ID_LEN} bytes"
            ),
            Self::NotVisibleAscii => {
                write!(f, "the session id has characters other than visible ASCII")
            }
            Self::Repeated => write!(f, "the session id occurs more than once"),
        }
    }
}

impl std::error::Error for SessionIdError {}

/// Reads `Mcp-Session-Id` on a server.
///
/// `is_initialize` is whether the body is the request that opens a session, and
/// `required` whether this server issues session ids. The server itself looks
/// up whether a named session exists; if not, use [`SessionError::NotFound`].
///
/// ```
/// use bowline_proto::http::{RequestedSession, SessionError, session_from_headers};
///
/// let named = session_from_headers(&[("Mcp-Session-Id", "abc")], false, true).unwrap();
/// assert!(matches!(named, RequestedSession::Named(id) if id.as_str() == "abc"));
///
/// let none: [(&str, &str); 0] = [];
/// assert_eq!(session_from_headers(&none, true, true), Ok(RequestedSession::Unnamed));
/// assert_eq!(session_from_headers(&none, false, true), Err(SessionError::Missing));
/// assert_eq!(SessionError::Missing.status(), 400);
/// assert_eq!(SessionError::NotFound.status(), 404);
/// ```
///
/// # Errors
///
/// Returns an error if the id is missing or malformed.
pub fn session_from_headers<H: Headers + ?Sized>(
    headers: &H,
    is_initialize: bool,
    required: bool,
) -> Result<RequestedSession, SessionError> {
    match session_header(headers) {
        Ok(Some(id)) => Ok(RequestedSession::Named(id)),
        Ok(None) if required && !is_initialize => Err(SessionError::Missing),
        Ok(None) => Ok(RequestedSession::Unnamed),
        Err(error) => Err(SessionError::Malformed(error)),
    }
}

/// The session that a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedSession {
    /// None: the request opens a session, or the server has none.
    Unnamed,
    /// This session, if it exists.
    Named(SessionId),
}

/// Why a request is not admitted to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionError {
    /// The request must name its session.
    Missing,
    /// The session id is malformed.
    Malformed(SessionIdError),
    /// The session does not exist, has ended, or belongs to someone else: a
    /// stranger must not learn which.
    NotFound,
}

impl SessionError {
    /// Returns the HTTP status. A 404 makes the client open a new session.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Missing | Self::Malformed(_) => 400,
            Self::NotFound => 404,
        }
    }

    /// Returns the JSON-RPC error for the body.
    #[must_use]
    pub fn to_error(self) -> ErrorObject {
        ErrorObject::new(code::INVALID_REQUEST, self.to_string())
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "header {} is missing", name::MCP_SESSION_ID),
            Self::Malformed(error) => write!(f, "header {}: {error}", name::MCP_SESSION_ID),
            Self::NotFound => f.write_str("session not found; open a new one with initialize"),
        }
    }
}

impl std::error::Error for SessionError {}

/// The session of a client.
///
/// Several requests may be open when a session ends, and some of them may learn
/// of it when the next session is already open. So the loss of a session is
/// reported with the id that the request used.
///
/// ```
/// use bowline_proto::http::{ClientSession, SessionId};
///
/// let mut session = ClientSession::default();
/// session.set_from_response(&[("mcp-session-id", "first")]).unwrap();
/// let used = session.id().cloned().unwrap();
/// assert!(session.clear_if(&used), "a 404: open a new session");
/// assert_eq!(session.id(), None, "and do not name the old one");
///
/// session.set_from_response(&[("mcp-session-id", "second")]).unwrap();
/// assert!(!session.clear_if(&used), "late news of the first session");
/// assert!(session.id().is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSession {
    id: Option<SessionId>,
}

impl ClientSession {
    /// Stores the id from the response to the opening request; there may be
    /// none.
    ///
    /// # Errors
    ///
    /// Returns an error if the server sent an id that cannot be sent back.
    pub fn set_from_response<H: Headers + ?Sized>(
        &mut self,
        headers: &H,
    ) -> Result<(), SessionIdError> {
        self.id = None;
        self.id = session_header(headers)?;
        Ok(())
    }

    /// Returns the id to send with every request.
    #[must_use]
    pub fn id(&self) -> Option<&SessionId> {
        self.id.as_ref()
    }

    /// Clears the session if its id is `id`, after a 404. Returns whether it
    /// was the current one; if so, open a new one.
    pub fn clear_if(&mut self, id: &SessionId) -> bool {
        let current = self.id.as_ref() == Some(id);
        if current {
            self.id = None;
        }
        current
    }
}

fn session_header<H: Headers + ?Sized>(headers: &H) -> Result<Option<SessionId>, SessionIdError> {
    let raw = single_value(headers, name::MCP_SESSION_ID).map_err(|_| SessionIdError::Repeated)?;
    raw.map(SessionId::from_header).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_visible_ascii_of_bounded_length() {
        for good in [
            "a",
            "!~",
            "eyJhbGciOi.J9.x_-",
            &"x".repeat(MAX_SESSION_ID_LEN),
        ] {
            assert!(SessionId::new(good).is_ok());
        }
        for bad in [" ", "a b", "a\n", "a\r\nb: c", "\0", "\u{7f}", "é"] {
            assert_eq!(
                SessionId::new(bad),
                Err(SessionIdError::NotVisibleAscii),
                "{bad:?}"
            );
        }
        assert_eq!(SessionId::new(""), Err(SessionIdError::Empty));
        let long = "x".repeat(MAX_SESSION_ID_LEN + 1);
        assert_eq!(SessionId::new(&long), Err(SessionIdError::TooLong));
    }

    #[test]
    fn a_malformed_or_repeated_id_is_a_400() {
        let refusal =
            |headers: &[(&str, &[u8])]| session_from_headers(headers, false, true).unwrap_err();
        for bad in [&b""[..], b"a b", b"\xff"] {
            assert_eq!(refusal(&[("mcp-session-id", bad)]).status(), 400);
        }
        let twice = [("mcp-session-id", &b"a"[..]), ("Mcp-Session-Id", b"a")];
        assert_eq!(
            refusal(&twice),
            SessionError::Malformed(SessionIdError::Repeated)
        );
        assert_eq!(refusal(&[]).to_error().code, code::INVALID_REQUEST);
    }

    #[test]
    fn a_server_without_sessions_needs_no_id() {
        let none: [(&str, &str); 0] = [];
        assert_eq!(
            session_from_headers(&none, false, false),
            Ok(RequestedSession::Unnamed)
        );
    }

    #[test]
    fn an_id_on_the_opening_request_is_looked_up_like_any_other() {
        let used = session_from_headers(&[("mcp-session-id", " old ")], true, true).unwrap();
        assert_eq!(
            used,
            RequestedSession::Named(SessionId::new("old").unwrap())
        );
    }

    #[test]
    fn late_news_of_an_old_session_leaves_the_new_one_alone() {
        let mut session = ClientSession::default();
        session
            .set_from_response(&[("mcp-session-id", "new")])
            .unwrap();
        assert!(!session.clear_if(&SessionId::new("old").unwrap()));
        assert!(session.id().is_some());
        assert!(session.clear_if(&SessionId::new("new").unwrap()));
        assert_eq!(session.id(), None);
    }

    #[test]
    fn a_bad_id_from_the_server_leaves_no_session() {
        let mut session = ClientSession::default();
        session
            .set_from_response(&[("mcp-session-id", "a")])
            .unwrap();
        assert!(
            session
                .set_from_response(&[("mcp-session-id", "a b")])
                .is_err()
        );
        assert_eq!(session.id(), None);
    }
}
