//! HTTP status codes of errors, and their meaning for clients.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use super::header::HeaderMismatch;
use crate::jsonrpc::{ErrorObject, code};

/// Returns the HTTP status of a JSON-RPC error, for revisions that link the
/// two.
///
/// `meta_missing` is whether the request lacks a required member of `_meta`:
/// only then are invalid parameters a 400. Every other refusal of parameters,
/// and every failure inside the server, is an ordinary response with status
/// 200.
///
/// ```
/// use bowline_proto::{http::status_for_error, jsonrpc::code};
///
/// assert_eq!(status_for_error(code::METHOD_NOT_FOUND, false), 404);
/// assert_eq!(status_for_error(code::INVALID_PARAMS, true), 400);
/// assert_eq!(status_for_error(code::INVALID_PARAMS, false), 200);
/// ```
#[must_use]
pub fn status_for_error(error_code: i64, meta_missing: bool) -> u16 {
    match error_code {
        code::METHOD_NOT_FOUND => 404,
        code::HEADER_MISMATCH => HeaderMismatch::STATUS,
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION => 400,
        code::INVALID_PARAMS if meta_missing => 400,
        _ => 200,
    }
}

/// Classifies the response to a POST, GET or DELETE.
///
/// `body` may be empty, or the first part of a long one; it is only read to
/// find a JSON-RPC error that the server sent with an error status.
///
/// ```
/// use bowline_proto::http::{StatusKind, classify_status};
///
/// let body = br#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}"#;
/// let classified = classify_status(404, body);
/// assert_eq!(classified.kind, StatusKind::NotFound);
/// assert_eq!(classified.error.unwrap().code, -32601);
/// ```
#[must_use]
pub fn classify_status(status: u16, body: &[u8]) -> ClassifiedStatus {
    let kind = match status {
        202 | 204 => StatusKind::Accepted,
        200..=299 => StatusKind::Response,
        401 => StatusKind::Unauthorized,
        403 => StatusKind::Forbidden,
        404 => StatusKind::NotFound,
        405 => StatusKind::MethodNotAllowed,
        429 | 503 => StatusKind::Busy,
        500..=599 => StatusKind::ServerError,
        _ => StatusKind::Refused,
    };
    let is_success = matches!(kind, StatusKind::Accepted | StatusKind::Response);
    let error = if is_success {
        None
    } else {
        parse_error_body(body)
    };
    ClassifiedStatus {
        status,
        kind,
        error,
    }
}

/// A classified status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedStatus {
    /// The status as received.
    pub status: u16,
    /// The meaning of the status.
    pub kind: StatusKind,
    /// The JSON-RPC error in the body of an error status, if there was one.
    /// This, not the status alone, tells a server of one era from one of the
    /// other.
    pub error: Option<ErrorObject>,
}

impl ClassifiedStatus {
    /// Returns whether the session that the request named has ended, so the
    /// client must open a new one without naming the old.
    #[must_use]
    pub fn ends_session(&self, request_named_session: bool) -> bool {
        request_named_session && self.kind == StatusKind::NotFound
    }

    /// Returns whether the server may accept the same request later. It may
    /// have processed this one all the same.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.kind == StatusKind::Busy || matches!(self.status, 408 | 502 | 504)
    }
}

impl fmt::Display for ClassifiedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP status {}", self.status)?;
        self.error
            .as_ref()
            .map_or(Ok(()), |error| write!(f, ": {error}"))
    }
}

/// The kinds of status that lead to different next steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusKind {
    /// The body is the response.
    Response,
    /// There is no response, and none is expected.
    Accepted,
    /// The client must authenticate, or do so again.
    Unauthorized,
    /// The client is authenticated but not permitted.
    Forbidden,
    /// The session, method or endpoint does not exist.
    NotFound,
    /// The endpoint does not support this HTTP method: no stream to GET, no
    /// session to DELETE.
    MethodNotAllowed,
    /// Try again later; see [`parse_retry_after`](super::parse_retry_after()).
    Busy,
    /// The server, or a proxy in front of it, failed.
    ServerError,
    /// The request is invalid, or this is not an MCP endpoint.
    Refused,
}

/// Parses the JSON-RPC error of a body, if it has one. Anything else is `None`.
fn parse_error_body(body: &[u8]) -> Option<ErrorObject> {
    let envelope: ErrorEnvelope = serde_json::from_slice(body).ok()?;
    envelope.error
}

struct ErrorEnvelope {
    error: Option<ErrorObject>,
}

impl<'de> Deserialize<'de> for ErrorEnvelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ErrorEnvelopeVisitor)
    }
}

struct ErrorEnvelopeVisitor;

impl<'de> Visitor<'de> for ErrorEnvelopeVisitor {
    type Value = ErrorEnvelope;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC response")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ErrorEnvelope, A::Error> {
        let mut error = None;
        while let Some(key) = map.next_key::<String>()? {
            // Some servers omit `jsonrpc` here; an error with a code and a
            // message is sufficient evidence.
            if key == "error" {
                error = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(ErrorEnvelope { error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_error_table() {
        for (error_code, status) in [
            (code::PARSE_ERROR, 400),
            (code::INVALID_REQUEST, 400),
            (code::METHOD_NOT_FOUND, 404),
            (code::INVALID_PARAMS, 200),
            (code::INTERNAL_ERROR, 200),
            (code::HEADER_MISMATCH, 400),
            (code::MISSING_CLIENT_CAPABILITY, 400),
            (code::UNSUPPORTED_PROTOCOL_VERSION, 400),
            (-32002, 200),
            (7, 200),
        ] {
            assert_eq!(status_for_error(error_code, false), status, "{error_code}");
        }
    }

    #[test]
    fn missing_meta_is_bad_params_with_a_400_and_nothing_else_changes() {
        assert_eq!(status_for_error(code::INVALID_PARAMS, true), 400);
        assert_eq!(status_for_error(code::INTERNAL_ERROR, true), 200);
        assert_eq!(status_for_error(code::METHOD_NOT_FOUND, true), 404);
    }

    #[test]
    fn every_kind_of_status() {
        for (status, kind) in [
            (200, StatusKind::Response),
            (202, StatusKind::Accepted),
            (204, StatusKind::Accepted),
            (301, StatusKind::Refused),
            (400, StatusKind::Refused),
            (401, StatusKind::Unauthorized),
            (403, StatusKind::Forbidden),
            (404, StatusKind::NotFound),
            (405, StatusKind::MethodNotAllowed),
            (406, StatusKind::Refused),
            (410, StatusKind::Refused),
            (429, StatusKind::Busy),
            (500, StatusKind::ServerError),
            (502, StatusKind::ServerError),
            (503, StatusKind::Busy),
            (0, StatusKind::Refused),
            (999, StatusKind::Refused),
        ] {
            assert_eq!(classify_status(status, b"").kind, kind, "{status}");
        }
        assert!(
            classify_status(503, b"").is_temporary() && classify_status(502, b"").is_temporary()
        );
        assert!(
            !classify_status(500, b"").is_temporary() && !classify_status(400, b"").is_temporary()
        );
    }

    #[test]
    fn an_error_body_is_found_and_nothing_else_is_taken_for_one() {
        let body = br#"{"error": {"message": "m", "code": -32022, "data": {"supported": []}}, "id": null}"#;
        assert_eq!(
            classify_status(400, body).error.map(|error| error.code),
            Some(-32022)
        );
        assert_eq!(
            classify_status(200, body).error,
            None,
            "a good status has its own reader"
        );
        for other in [
            &br#"{"error": "invalid_token"}"#[..],
            br#"{"result": {}}"#,
            br#"[{"error": {"code": 1, "message": "m"}}]"#,
            b"<html>",
            b"",
            b"\xff",
            br#"{"error": {"code": 1, "message": "m"}"#,
        ] {
            assert_eq!(classify_status(400, other).error, None);
        }
    }

    #[test]
    fn only_a_named_session_ends() {
        assert!(classify_status(404, b"").ends_session(true));
        assert!(!classify_status(404, b"").ends_session(false));
        assert!(!classify_status(400, b"").ends_session(true));
    }
}
