//! POST requests: selects the era of a message.

use std::sync::Arc;

use bytes::Bytes;
use http::{StatusCode, request::Parts};

use super::{
    Inner, Principal,
    admission::{REQUEST_BYTES, invalid_request_response, quota_exceeded},
    listen_stream,
    quotas::RequestPermit,
    request_headers::RequestHeaders,
    response::{self, PendingResponse},
    stateless,
    status::ResponseStatus,
};
use crate::{
    catch_panic::CatchPanic,
    proto::{
        http::header::{MirroredHeaders, protocol_version},
        jsonrpc::{Envelope, Messages, RequestId, ScanError, decode_params, scan, split_batch},
        model::{InitializeParams, method},
        revision::{Era, Revision},
        server::{
            RequestContext, RequestParams, errors,
            stateless::{Admitted, Rejection, is_stateless_request},
        },
    },
    server::dispatch::request::{IncomingNotification, RequestOrigin},
};

/// A request of the stateless era.
pub(super) struct StatelessRequest<'a> {
    pub(super) parts: &'a Parts,
    pub(super) frame: &'a Bytes,
    pub(super) id: RequestId,
    pub(super) method: &'a str,
    pub(super) params: Option<RequestParams>,
}

/// The properties of a message posted to a session that are needed before the
/// session's machine reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostKind {
    /// It opens the session.
    Initialize,
    Batch,
    Other,
}

impl PostKind {
    fn from_envelope(envelope: &Envelope<'_>) -> Self {
        match envelope {
            Envelope::Request { method, .. } if method == method::INITIALIZE => Self::Initialize,
            _ => Self::Other,
        }
    }
}

/// Serves a POST. The body determines the era; if it does not, the version
/// header does.
pub(super) fn serve<'a>(
    inner: &'a Arc<Inner>,
    parts: &'a Parts,
    body: &Bytes,
    mut permit: RequestPermit,
) -> PendingResponse<'a> {
    let messages = match split_batch(body) {
        Ok(messages) => messages,
        Err(fault) => return malformed(&fault),
    };
    let headers = RequestHeaders(parts);
    let modern = match protocol_version(&headers) {
        Ok(version) => version.is_some_and(is_stateless_version) || !inner.has_sessions(),
        Err(mismatch) => return response::rejection_response(None, &mismatch.into()).into(),
    };
    let message = match messages {
        Messages::Single(message) => message,
        Messages::Batch(_) if modern => {
            return invalid_request_response(
                StatusCode::BAD_REQUEST,
                "batches are not supported in this protocol version",
            )
            .into();
        }
        Messages::Batch(messages) => {
            // Each message of a batch is processed separately.
            if let Err(why) = permit.grow_for(messages.len()) {
                return (*quota_exceeded(why, REQUEST_BYTES)).into();
            }
            return inner.post_to_session(parts, body.clone(), PostKind::Batch, permit);
        }
    };
    let slice = |part: Option<&[u8]>| part.map(|part| body.slice_ref(part));
    match scan(message) {
        Ok(Envelope::Request { id, method, params }) if modern || is_stateless_request(params) => {
            let modern = StatelessRequest {
                parts,
                frame: body,
                id,
                method: &method,
                params: slice(params).map(RequestParams::from),
            };
            stateless_request(inner, modern, permit)
        }
        Ok(Envelope::Notification { method, params }) if modern || is_stateless_request(params) => {
            notification(inner, parts, &method, slice(params), permit)
        }
        Ok(_) if modern => invalid_request_response(
            StatusCode::BAD_REQUEST,
            "only requests and notifications can be posted",
        )
        .into(),
        Ok(envelope) => {
            let kind = PostKind::from_envelope(&envelope);
            inner.post_to_session(parts, body.clone(), kind, permit)
        }
        Err(fault) => malformed(&fault),
    }
}

/// Returns the response for a malformed body.
fn malformed<'a>(fault: &ScanError) -> PendingResponse<'a> {
    response::rejection_response(fault.id.as_ref(), &Rejection::from(fault)).into()
}

fn stateless_request<'a>(
    inner: &'a Arc<Inner>,
    mut request: StatelessRequest<'_>,
    permit: RequestPermit,
) -> PendingResponse<'a> {
    let config = inner.handler.config();
    let params = request.params.as_deref();
    if request.method == method::INITIALIZE && !is_stateless_request(params) {
        // A client of the handshake era must learn that it is not supported.
        let requested_version = decode_params::<InitializeParams>(params);
        let requested_version =
            requested_version.map_or(String::new(), |params| params.protocol_version);
        let error = errors::unsupported_version(config.supported_versions(), &requested_version);
        return response::rejection_response(Some(&request.id), &error.into()).into();
    }
    let context = match admit(inner, &mut request) {
        Ok(context) => context,
        Err(rejection) => {
            return response::rejection_response(Some(&request.id), &rejection).into();
        }
    };
    if inner.stopping().has_begun() {
        let error = errors::internal_error("The server is shutting down");
        let status = ResponseStatus::SHUTTING_DOWN;
        return response::jsonrpc_error(status, Some(&request.id), &error).into();
    }
    match request.method {
        method::DISCOVER => stateless::discover(config, &request.id, &context).into(),
        method::SUBSCRIPTIONS_LISTEN => listen_stream::serve(inner, &request, permit).into(),
        _ => stateless::serve(inner, request, context, permit),
    }
}

fn admit(inner: &Inner, request: &mut StatelessRequest<'_>) -> Result<RequestContext, Rejection> {
    let config = inner.handler.config();
    let (params, headers) = (request.params.take(), RequestHeaders(request.parts));
    let Admitted {
        context, params, ..
    } = inner.gate.admit(
        config,
        request.method,
        params.map(RequestParams::into_bytes),
        &headers,
    )?;
    request.params = params;
    Ok(context)
}

/// The protocol defines no notifications here: there is no session, and
/// requests are cancelled by closing their stream. Extensions may define some.
fn notification<'a>(
    inner: &Inner,
    parts: &Parts,
    name: &str,
    params: Option<Bytes>,
    permit: RequestPermit,
) -> PendingResponse<'a> {
    let mirror = MirroredHeaders::from_message(name, params.as_deref());
    let mirrored = mirror.and_then(|mirror| mirror.check_notification(&RequestHeaders(parts)));
    if let Err(mismatch) = mirrored {
        return response::rejection_response(None, &mismatch.into()).into();
    }
    let mut extensions = inner.handler.config().extension_methods.iter();
    let extension = method::info(name).is_none() && extensions.any(|known| **known == *name);
    let notified = extension.then(|| {
        inner.handler.notify(IncomingNotification {
            method: name.to_owned().into(),
            params,
            principal: principal(parts),
            _origin: RequestOrigin::default(),
        })
    });
    match notified.flatten() {
        Some(work) => PendingResponse::pending(async {
            // A panic is not reported: there is no response.
            let _ = CatchPanic(work).await;
            drop(permit);
            response::empty_response(StatusCode::ACCEPTED)
        }),
        None => response::empty_response(StatusCode::ACCEPTED).into(),
    }
}

pub(super) fn principal(parts: &Parts) -> Option<Arc<str>> {
    let principal = parts.extensions.get::<Principal>();
    principal.map(|principal| Arc::clone(&principal.0))
}

/// Returns whether a version header names the stateless era. Unknown versions
/// are treated as such, as all versions of the handshake era are known.
fn is_stateless_version(version: &str) -> bool {
    Revision::parse(version).is_none_or(|revision| revision.era() == Era::Stateless)
}
