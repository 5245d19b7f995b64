//! HTTP status codes of errors, and their meaning for clients.

use super::header::HeaderMismatch;
use crate::{
    jsonrpc::{Envelope, ErrorObject, code, decode, scan},
    model::Extra,
};

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

/// Returns what a status means for the request that it answers.
///
/// Opening, calls, streams and resumption all ask this function, so they agree
/// on which requests may be sent again.
///
/// ```
/// use bowline_proto::http::{StatusClass, classify_status};
///
/// assert_eq!(classify_status(404), StatusClass::NotFound);
/// assert!(classify_status(503).is_temporary());
/// assert!(!classify_status(501).is_temporary());
/// ```
#[must_use]
pub fn classify_status(status: u16) -> StatusClass {
    match status {
        200..=299 => StatusClass::Success,
        401 => StatusClass::Unauthenticated,
        403 | 407 => StatusClass::AccessDenied,
        404 => StatusClass::NotFound,
        408 | 425 | 429 | 503 => StatusClass::NotProcessed,
        400..=499 | 501 | 505 => StatusClass::Rejected,
        500..=599 => StatusClass::ServerError,
        _ => StatusClass::Unexpected,
    }
}

/// The kinds of status that lead to different next steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusClass {
    /// 2xx: the server accepted the request.
    Success,
    /// 401: the server requires credentials, or others than those it was sent.
    Unauthenticated,
    /// 403, 407: the server refuses this client or this request, whoever makes it,
    /// or a proxy does not admit the client.
    AccessDenied,
    /// 404: the session, method or endpoint does not exist. For a request that
    /// named a session, the session has ended.
    NotFound,
    /// 408, 425, 429, 503: the server did not process the request, and may do so
    /// later; see [`parse_retry_after`](super::parse_retry_after()).
    NotProcessed,
    /// Any other 4xx, 501 and 505: the server does not accept such a request, and
    /// the same request will not be accepted later.
    Rejected,
    /// Any other 5xx: the server, or a proxy in front of it, failed. It may have
    /// processed the request.
    ServerError,
    /// Any other number. A redirect that was not followed is one.
    Unexpected,
}

impl StatusClass {
    /// Returns whether the server may accept the same request later.
    ///
    /// Every 5xx counts except 501 and 505: they state that the server lacks a
    /// feature, which waiting does not change. A plain 500 counts, because many
    /// servers and proxies send it for failures that pass.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::NotProcessed | Self::ServerError)
    }

    /// Returns whether the server or a proxy denies this client access (401, 403 and
    /// 407). The same request will not be accepted later without other credentials.
    #[must_use]
    pub fn denies_access(self) -> bool {
        matches!(self, Self::Unauthenticated | Self::AccessDenied)
    }

    /// Returns whether the server rejects what the request asks for. In response
    /// to a probe, this is evidence of the era that the server belongs to;
    /// statuses about credentials or load are not.
    #[must_use]
    pub fn rejects_request(self) -> bool {
        matches!(self, Self::NotFound | Self::Rejected)
    }
}

/// Returns whether a status in response to `initialize` suggests the
/// two-endpoint transport of the first revision. The specification names these
/// three.
pub(crate) fn suggests_legacy_sse(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}

/// The codes that JSON-RPC reserves for itself and for protocols built on it.
const JSONRPC_CODES: std::ops::RangeInclusive<i64> = -32768..=-32000;

/// Parses the JSON-RPC error in the body of an error status, if there is one.
///
/// Some servers omit `jsonrpc` here. Their error counts if its code is one that
/// JSON-RPC reserves: HTTP gateways send errors of the same shape whose code is
/// an HTTP status.
///
/// ```
/// use bowline_proto::http::parse_error_body;
///
/// let body = br#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": "no"}}"#;
/// assert_eq!(parse_error_body(body).unwrap().code, 7);
/// let body = br#"{"error": {"code": 503, "message": "Service Unavailable"}}"#;
/// assert_eq!(parse_error_body(body), None);
/// ```
#[must_use]
pub fn parse_error_body(body: &[u8]) -> Option<ErrorObject> {
    if let Ok(Envelope::Error { error, .. }) = scan(body) {
        return decode(error).ok();
    }
    let mut members: Extra = decode(body).ok()?;
    let error: ErrorObject = members.remove("error")?.decode().ok()?;
    JSONRPC_CODES.contains(&error.code).then_some(error)
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
    fn every_class_of_status() {
        for (class, statuses) in [
            (StatusClass::Success, &[200, 202, 204][..]),
            (StatusClass::Unauthenticated, &[401]),
            (StatusClass::AccessDenied, &[403, 407]),
            (StatusClass::NotFound, &[404]),
            (StatusClass::NotProcessed, &[408, 425, 429, 503]),
            (
                StatusClass::Rejected,
                &[400, 405, 406, 409, 410, 415, 422, 501, 505],
            ),
            (StatusClass::ServerError, &[500, 502, 504, 507, 599]),
            (StatusClass::Unexpected, &[0, 100, 301, 600, 999]),
        ] {
            for status in statuses {
                assert_eq!(classify_status(*status), class, "{status}");
                let denied = [401, 403, 407].contains(status);
                assert_eq!(class.denies_access(), denied, "{status}");
            }
        }
    }

    #[test]
    fn an_error_body_is_found_and_nothing_else_is_taken_for_one() {
        let code = |body: &[u8]| parse_error_body(body).map(|error| error.code);
        let body = br#"{"error": {"message": "m", "code": -32022, "data": {"supported": []}}, "id": null}"#;
        assert_eq!(code(body), Some(-32022));
        let body = br#"{"jsonrpc": "2.0", "id": "a", "error": {"code": 42, "message": "m"}}"#;
        assert_eq!(code(body), Some(42));
        for other in [
            &br#"{"error": "invalid_token"}"#[..],
            br#"{"error": {"code": 404, "message": "Not Found", "status": "NOT_FOUND"}}"#,
            br#"{"error": {"code": -1, "message": "m"}}"#,
            br#"{"result": {}}"#,
            br#"[{"error": {"code": -32600, "message": "m"}}]"#,
            b"<html>",
            b"",
            b"\xff",
            br#"{"error": {"code": -32600, "message": "m"}"#,
        ] {
            assert_eq!(parse_error_body(other), None);
        }
    }
}
