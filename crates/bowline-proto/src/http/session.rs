//! Sessions, on revisions that have them: the id, and what its absence means.

use std::fmt;

use super::{
    Headers,
    header::{name, single_value, trim_ows},
};
use crate::jsonrpc::{ErrorObject, code};

/// The longest session id we take: signed tokens fit, and so does the header
/// into the limits of common servers.
pub const MAX_SESSION_ID_LEN: usize = 4096;

/// A session id: visible ASCII, so that it is its own header value.
///
/// Whoever has it can join the session, so `Debug` does not show it.
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
    /// Takes a text that a server wants to use, or that a peer sent.
    ///
    /// # Errors
    ///
    /// Where it is empty, too long, or not visible ASCII.
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

    /// The id, as it goes into the header.
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

/// Why a text is not a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionIdError {
    /// There is nothing.
    Empty,
    /// It is longer than [`MAX_SESSION_ID_LEN`].
    TooLong,
    /// It has characters other than visible ASCII.
    NotVisibleAscii,
    /// There are two.
    Repeated,
}

impl fmt::Display for SessionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the session id is empty",
            Self::TooLong => "the session id is too long",
            Self::NotVisibleAscii => "the session id is not visible ASCII",
            Self::Repeated => "there is more than one session id",
        })
    }
}

impl std::error::Error for SessionIdError {}

/// A server's reading of `Mcp-Session-Id`.
///
/// `opens` says that the body is the request that opens a session, and
/// `required` that this server hands out session ids. Whether a named session
/// lives is for the server to look up; if not, it is [`SessionError::Gone`].
///
/// ```
/// use bowline_proto::http::{SessionRefusal, SessionUse, read_session};
///
/// let named = read_session(&[("Mcp-Session-Id", "abc")], false, true).unwrap();
/// assert!(matches!(named, SessionUse::Named(id) if id.as_str() == "abc"));
///
/// let none: [(&str, &str); 0] = [];
/// assert_eq!(read_session(&none, true, true), Ok(SessionUse::Unnamed));
/// assert_eq!(read_session(&none, false, true), Err(SessionRefusal::Missing));
/// assert_eq!(SessionRefusal::Missing.status(), 400);
/// assert_eq!(SessionRefusal::Gone.status(), 404);
/// ```
///
/// # Errors
///
/// Where the id is missing or cannot be one.
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

/// Which session a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedSession {
    /// None: it opens one, or the server has none.
    Unnamed,
    /// This one, if it lives.
    Named(SessionId),
}

/// Why a server does not let a request into a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionError {
    /// The request must name its session.
    Missing,
    /// What it names cannot be a session.
    Malformed(SessionIdError),
    /// There is no such session, or no longer, or it is someone else's: which
    /// of these, a stranger must not learn.
    NotFound,
}

impl SessionError {
    /// The HTTP status. A 404 tells the client to open a new session.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Missing | Self::Malformed(_) => 400,
            Self::NotFound => 404,
        }
    }

    /// The JSON-RPC error for the body.
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
            Self::NotFound => f.write_str("there is no such session; open a new one"),
        }
    }
}

impl std::error::Error for SessionError {}

/// A client's memory of its session.
///
/// Several requests may be under way when a session ends, and some of them may
/// learn of it when the next session is already open. So a loss is reported
/// with the id that the request had named.
///
/// ```
/// use bowline_proto::http::{ClientSession, SessionId};
///
/// let mut session = ClientSession::default();
/// session.opened(&[("mcp-session-id", "first")]).unwrap();
/// let used = session.id().cloned().unwrap();
/// assert!(session.lost(&used), "a 404: open a new session");
/// assert_eq!(session.id(), None, "and do not name the old one");
///
/// session.opened(&[("mcp-session-id", "second")]).unwrap();
/// assert!(!session.lost(&used), "late news of the first session");
/// assert!(session.id().is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSession {
    id: Option<SessionId>,
}

impl ClientSession {
    /// Takes the id from the answer to the opening request; there may be none.
    ///
    /// # Errors
    ///
    /// Where the server sent an id that cannot be sent back.
    pub fn set_from_response<H: Headers + ?Sized>(
        &mut self,
        headers: &H,
    ) -> Result<(), SessionIdError> {
        self.id = None;
        self.id = session_header(headers)?;
        Ok(())
    }

    /// The id to send with every request.
    #[must_use]
    pub fn id(&self) -> Option<&SessionId> {
        self.id.as_ref()
    }

    /// Takes the news, by a 404, that the session `used` is over. Returns
    /// whether it was the current one, so that a new one must be opened.
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
