//! A message that was posted: which era it belongs to.

use std::sync::Arc;

use bytes::Bytes;
use http::{StatusCode, request::Parts};

use super::{
    Inner, Principal,
    accounts::Place,
    answer::{self, Answer},
    entry::{MANY_BYTES, Received, exhausted, told},
    listen, stateless,
};
use crate::{
    contained::Contained,
    proto::{
        http::header::{Mirror, read_version},
        jsonrpc::{Envelope, Messages, RequestId, ScanError, decode_params, scan, split},
        model::{InitializeParams, method},
        revision::{Era, Revision},
        server::{
            RequestContext, errors,
            stateless::{LastClient, Rejection, admit_http_again, speaks_for_itself},
        },
    },
    server::request::{Heard, SentBy},
};

/// A request of the stateless era.
pub(super) struct Modern<'a> {
    pub(super) parts: &'a Parts,
    pub(super) frame: &'a Bytes,
    pub(super) id: RequestId,
    pub(super) method: &'a str,
    pub(super) params: Option<Bytes>,
}

/// What must be known of what is posted to a session, before the session's
/// machine reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It opens the session.
    Opening,
    Batch,
    Other,
}

/// Serves what was posted. The body decides about the era; where it says
/// nothing, the version header does.
pub(super) fn serve<'a>(
    inner: &'a Arc<Inner>,
    parts: &'a Parts,
    body: &Bytes,
    mut place: Place,
) -> Answer<'a> {
    let messages = match split(body) {
        Ok(messages) => messages,
        Err(fault) => return faulty(&fault),
    };
    let headers = Received(parts);
    let modern = match read_version(&headers) {
        Ok(version) => version.is_some_and(names_stateless) || !inner.has_sessions(),
        Err(mismatch) => return answer::rejection(None, &mismatch.into()).into(),
    };
    let message = match messages {
        Messages::One(message) => message,
        Messages::Batch(_) if modern => {
            return told(StatusCode::BAD_REQUEST, "there are no batches here").into();
        }
        Messages::Batch(messages) => {
            // Each of them is worked on by itself.
            if let Err(why) = place.grow_for(messages.len()) {
                return (*exhausted(why, MANY_BYTES)).into();
            }
            return inner.post_to_session(parts, body.clone(), Said::Batch, place);
        }
    };
    let own = |part: Option<&[u8]>| part.map(|part| body.slice_ref(part));
    match scan(message) {
        Ok(Envelope::Request { id, method, params }) if modern || speaks_for_itself(params) => {
            let modern = Modern {
                parts,
                frame: body,
                id,
                method: &method,
                params: own(params),
            };
            request(inner, modern, place)
        }
        Ok(Envelope::Notification { method, params }) if modern || speaks_for_itself(params) => {
            notification(inner, parts, &method, own(params), place)
        }
        Ok(_) if modern => told(StatusCode::BAD_REQUEST, "only requests are posted here").into(),
        Ok(envelope) => {
            let said = match envelope {
                Envelope::Request { method, .. } if method == method::INITIALIZE => Said::Opening,
                _ => Said::Other,
            };
            inner.post_to_session(parts, body.clone(), said, place)
        }
        Err(fault) => faulty(&fault),
    }
}

/// It cannot be read.
fn faulty<'a>(fault: &ScanError) -> Answer<'a> {
    answer::rejection(fault.id.as_ref(), &Rejection::from(fault)).into()
}

fn request<'a>(inner: &'a Arc<Inner>, modern: Modern<'_>, place: Place) -> Answer<'a> {
    let config = inner.handle.config();
    let params = modern.params.as_deref();
    if modern.method == method::INITIALIZE && !speaks_for_itself(params) {
        // A client of the older era must learn that there is none of it here.
        let asked = decode_params::<InitializeParams>(params);
        let asked = asked.map_or(String::new(), |params| params.protocol_version);
        let error = errors::unsupported_version(config.versions(), &asked);
        return answer::rejection(Some(&modern.id), &error.into()).into();
    }
    let context = match admit(inner, &modern) {
        Ok(context) => context,
        Err(rejection) => return answer::rejection(Some(&modern.id), &rejection).into(),
    };
    if inner.stopping().has_begun() {
        let error = errors::internal("The server is shutting down");
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return answer::refusal(status, Some(&modern.id), &error).into();
    }
    match modern.method {
        method::DISCOVER => stateless::discover(config, &modern.id, &context).into(),
        method::SUBSCRIPTIONS_LISTEN => listen::serve(inner, &modern, place).into(),
        _ => stateless::serve(inner, modern, context, place),
    }
}

fn admit(inner: &Inner, modern: &Modern<'_>) -> Result<RequestContext, Rejection> {
    let config = inner.handle.config();
    let (params, headers) = (modern.params.as_deref(), Received(modern.parts));
    // Who does not get at the last client at once does without.
    let mut unknown = LastClient::default();
    let mut last = inner.last_client.try_lock().ok();
    let last = last.as_deref_mut().unwrap_or(&mut unknown);
    admit_http_again(config, modern.method, params, &headers, last)
}

/// The protocol has nothing to notify of: there is no session, and requests are
/// called off by closing their stream. Extensions may.
fn notification<'a>(
    inner: &Inner,
    parts: &Parts,
    name: &str,
    params: Option<Bytes>,
    place: Place,
) -> Answer<'a> {
    let mirror = Mirror::of(name, params.as_deref());
    let mirrored = mirror.and_then(|mirror| mirror.check_notification(&Received(parts)));
    if let Err(mismatch) = mirrored {
        return answer::rejection(None, &mismatch.into()).into();
    }
    let mut extensions = inner.handle.config().extension_methods.iter();
    let extension = method::info(name).is_none() && extensions.any(|known| **known == *name);
    let heard = extension.then(|| {
        inner.handle.hear(Heard {
            method: name.to_owned().into(),
            params,
            principal: principal(parts),
            _sender: SentBy::default(),
        })
    });
    match heard.flatten() {
        Some(work) => Answer::later(async {
            // Nobody is told of a panic: there is no answer to tell it in.
            let _ = Contained(work).await;
            drop(place);
            answer::empty(StatusCode::ACCEPTED)
        }),
        None => answer::empty(StatusCode::ACCEPTED).into(),
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
