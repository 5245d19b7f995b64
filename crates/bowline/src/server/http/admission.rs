//! Admission of requests by quota, and the responses to those that are not admitted.

use std::{sync::Arc, time::Duration};

use http::{Response, request::Parts};

use super::{
    Body, Inner,
    activity::RequestGuard,
    post::principal,
    quotas::{ClientQuota, QuotaExceeded, RequestPermit},
    request_headers::head_size,
    response,
    status::ResponseStatus,
};
use crate::proto::jsonrpc::{ErrorObject, code};

/// The resource named in quota errors.
pub(super) const REQUEST_BYTES: &str = "bytes in concurrent requests";

/// Acquires a permit for a request and its head, or returns the error response.
pub(super) fn acquire_permit(
    inner: &Inner,
    parts: &Parts,
    guard: Option<&RequestGuard>,
) -> Result<RequestPermit, Box<Response<Body>>> {
    let permit = client_quota(inner, parts, guard)
        .request_permit(head_size(parts), || inner.has_session(parts));
    permit.map_err(|it| quota_exceeded(it, "concurrent requests"))
}

/// Returns the quota of the sender of a request, that of its connection if it
/// is ours.
pub(super) fn client_quota(
    inner: &Inner,
    parts: &Parts,
    guard: Option<&RequestGuard>,
) -> Arc<ClientQuota> {
    let quotas = &inner.quotas;
    if let Some(principal) = principal(parts) {
        return quotas.for_principal(principal);
    }
    match (inner.options.peer_source.read(parts), guard) {
        (Some(address), _) => quotas.for_address(address),
        (None, Some(connection)) => Arc::clone(connection.quota()),
        (None, None) => Arc::clone(quotas.unknown()),
    }
}

/// Returns the response for an exhausted quota.
pub(super) fn quota_exceeded(why: QuotaExceeded, what: &str) -> Box<Response<Body>> {
    let wait = Duration::from_secs(1);
    let (status, whose) = match why {
        QuotaExceeded::Client => (ResponseStatus::too_many_requests(wait), "you have"),
        QuotaExceeded::Total => (ResponseStatus::unavailable(wait), "the server has"),
    };
    let response = invalid_request_response(status, &format!("{whose} too many {what}"));
    Box::new(response)
}

/// Returns an error response with a reason.
pub(super) fn invalid_request_response(
    status: impl Into<ResponseStatus>,
    why: &str,
) -> Response<Body> {
    let error = ErrorObject::new(code::INVALID_REQUEST, format!("Invalid request: {why}"));
    response::jsonrpc_error(status, None, &error)
}
