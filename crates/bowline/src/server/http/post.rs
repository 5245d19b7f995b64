//! A message that was posted: which era it belongs to.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};

use super::{
    Body, Inner, Principal, answer,
    entry::{Received, told},
    listen, stateless,
};
use crate::proto::{
    http::header::{Mirror, read_version},
    jsonrpc::{Envelope, Messages, RequestId, scan, split},
    model::method,
    revision::{Era, Revision},
    server::stateless::{Rejection, admit_http, speaks_for_itself},
};

/// A request of the stateless era.
pub(super) struct Modern<'a> {
    pub(super) parts: &'a Parts,
    pub(super) frame: &'a Bytes,
    pub(super) id: RequestId,
    pub(super) method: &'a str,
    pub(super) params: Option<Bytes>,
}

/// Serves what was posted. The body decides about the era; where it says
/// nothing, the version header does.
pub(super) async fn serve(inner: &Arc<Inner>, parts: &Parts, body: Bytes) -> Response<Body> {
    let message = match split(&body) {
        Ok(Messages::One(message)) => message,
        Ok(Messages::Batch(_)) => return inner.post_to_session(parts, body).await,
        Err(fault) => return answer::rejection(fault.id.as_ref(), &Rejection::from(&fault)),
    };
    let own = |part: Option<&[u8]>| part.map(|part| body.slice_ref(part));
    let headers = Received(parts);
    let named = match read_version(&headers) {
        Ok(version) => version,
        Err(mismatch) => return answer::rejection(None, &mismatch.into()),
    };
    let modern_header = named.is_some_and(names_stateless);
    match scan(message) {
        Ok(Envelope::Request { id, method, params })
            if modern_header || speaks_for_itself(params) =>
        {
            let modern = Modern {
                parts,
                frame: &body,
                id,
                method: &method,
                params: own(params),
            };
            request(inner, modern).await
        }
        Ok(Envelope::Notification { method, params })
            if modern_header || speaks_for_itself(params) =>
        {
            // There is nothing to notify: no session, and requests are called
            // off by closing their stream.
            let mirrored =
                Mirror::of(&method, params).and_then(|mirror| mirror.check_notification(&headers));
            match mirrored {
                Ok(()) => answer::empty(StatusCode::ACCEPTED),
                Err(mismatch) => answer::rejection(None, &mismatch.into()),
            }
        }
        Ok(_) if modern_header => told(StatusCode::BAD_REQUEST, "only requests are posted here"),
        Ok(_) => inner.post_to_session(parts, body.clone()).await,
        Err(fault) => answer::rejection(fault.id.as_ref(), &Rejection::from(&fault)),
    }
}

async fn request(inner: &Arc<Inner>, modern: Modern<'_>) -> Response<Body> {
    let config = inner.handle.config();
    let headers = Received(modern.parts);
    let params = modern.params.as_deref();
    let admitted = admit_http(config, modern.method, params, &headers);
    let context = match admitted {
        Ok(context) => context,
        Err(rejection) => return answer::rejection(Some(&modern.id), &rejection),
    };
    match modern.method {
        method::DISCOVER => stateless::discover(config, &modern.id, &context),
        method::SUBSCRIPTIONS_LISTEN => listen::serve(inner, &modern),
        _ => stateless::serve(inner, modern, context).await,
    }
}

pub(super) fn principal(parts: &Parts) -> Option<Arc<str>> {
    let principal = parts.extensions.get::<Principal>();
    principal.map(|principal| Arc::clone(&principal.0))
}

/// Whether a version header names the stateless era. One that we do not know
/// does not look like any of the older ones either, which are all known.
fn names_stateless(version: &str) -> bool {
    Revision::parse(version).is_none_or(|revision| revision.era() == Era::Stateless)
}
