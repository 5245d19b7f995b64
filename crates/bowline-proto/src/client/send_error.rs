//! Frames that were not accepted or not delivered, and what an HTTP error status means
//! for a call.

use std::time::Duration;

use bytes::Bytes;

use super::{ConnectionError, ConnectionErrorKind, Failure, Outcome};
use crate::{
    http::{StatusClass, classify_status, parse_error_body},
    jsonrpc::ErrorObject,
};

/// Why a frame was not accepted or not delivered.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The outbound queue is full. The frame is handed back, so the machine need not
    /// keep a copy of what it sends.
    Busy(Bytes),
    /// The link failed to send the frame but is still usable.
    Failed(ConnectionError),
    /// HTTP: the exchange ended without a response to this request.
    NoResponse(ConnectionError),
    /// HTTP: the server answered with an error status.
    Status(HttpStatusError),
}

/// An HTTP response with an error status.
#[derive(Clone, Debug)]
pub struct HttpStatusError {
    /// The status code.
    pub status: u16,
    /// The start of the body, limited by the transport.
    pub body: Bytes,
    /// The value of `Retry-After`.
    pub retry_after: Option<Duration>,
}

/// The maximum number of characters of the body to include in an error.
const MAX_DETAIL_CHARS: usize = 500;

impl HttpStatusError {
    /// Returns what the status means for the request.
    #[must_use]
    pub fn class(&self) -> StatusClass {
        classify_status(self.status)
    }

    /// Returns the JSON-RPC error that the request was answered with, if the body has
    /// one. If the request was [not processed](StatusClass::NotProcessed), or access was
    /// [denied](StatusClass::denies_access), an error in the body only explains the status.
    #[must_use]
    pub fn response(&self) -> Option<ErrorObject> {
        match self.class() {
            StatusClass::NotProcessed => None,
            class if class.denies_access() => None,
            _ => parse_error_body(&self.body),
        }
    }

    /// Returns the outcome of a call that was answered with this status.
    pub(super) fn outcome(&self) -> Outcome {
        match self.response() {
            Some(error) => Outcome::Error(error),
            None => Outcome::Failed(Failure::NotDelivered(self.to_connection_error())),
        }
    }

    /// Converts it to a connection error that includes the error in the body, or the
    /// body's text.
    #[must_use]
    pub fn to_connection_error(&self) -> ConnectionError {
        let cause = ConnectionError::new(ConnectionErrorKind::Status {
            status: self.status,
            retry_after: self.retry_after,
        });
        let error = parse_error_body(&self.body);
        let cause = match self.body_text(error.as_ref()) {
            Some(detail) => cause.with_detail(detail),
            None => cause,
        };
        match error {
            Some(error) => cause.with_server_error(error),
            None => cause,
        }
    }

    /// Returns the message of a JSON-RPC error, or the body if it is plain text for
    /// people, not HTML and not binary. Whitespace is collapsed.
    fn body_text(&self, error: Option<&ErrorObject>) -> Option<String> {
        let text = match (error, str::from_utf8(&self.body)) {
            (Some(error), _) => &error.message,
            (None, Ok(text)) => text,
            // The transport may have cut the body in the middle of a character.
            (None, Err(error)) if error.error_len().is_none() => {
                str::from_utf8(&self.body[..error.valid_up_to()]).unwrap_or_default()
            }
            (None, Err(_)) => return None,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        if text.is_empty() || text.starts_with('<') || text.contains('\0') {
            return None;
        }
        Some(match text.char_indices().nth(MAX_DETAIL_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_of_a_refusal_is_told() {
        let long = "x".repeat(600);
        let cases: [(&[u8], Option<&str>); 7] = [
            (
                br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"not here"}}"#,
                Some("not here"),
            ),
            (
                b" Access is only\r\nallowed at a \n",
                Some("Access is only allowed at a"),
            ),
            (b"", None),
            (b" \n", None),
            (b"<html>403</html>", None),
            (b"\x89PNG\xff\x00", None),
            (b"caf\xc3", Some("caf")),
        ];
        let words = |body: &[u8]| {
            let refusal = HttpStatusError {
                status: 403,
                body: Bytes::copy_from_slice(body),
                retry_after: None,
            };
            refusal.to_connection_error().detail().map(str::to_owned)
        };
        for (body, expected) in cases {
            assert_eq!(words(body).as_deref(), expected, "{body:?}");
        }
        let told = words(long.as_bytes()).expect("it is text");
        assert_eq!(told.chars().count(), MAX_DETAIL_CHARS + 1);
    }
}
