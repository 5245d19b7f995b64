//! Where protection meets requests: before anything is read, and before a tool
//! is called.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, header, request::Parts};
use serde::Deserialize;

use super::{Body, Inner, Principal, accounts::Holder, answer, peer::network, pulse::Answering};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, RequestId, decode, error_response, scan, split},
        model::method,
    },
    server::auth::{Protection, grant::Granted, refused::Refused, token::Scheme},
};

pub(super) use crate::server::auth::lifetime::Lifetime;

/// Lets a request in that brings a good token, and notes whose it is. Gives the
/// answer to those that do not, and to those that ask where tokens are to be
/// had.
pub(super) async fn admit(
    inner: &Inner,
    parts: &mut Parts,
    held: Option<&Answering>,
) -> Option<Response<Body>> {
    let protection = inner.options.protection.as_ref()?;
    if parts.uri.path() == protection.metadata_path() {
        return Some(protection.metadata().answer(&parts.method));
    }
    // Browsers ask whether they may ask, and bring nothing.
    if parts.method == Method::OPTIONS {
        return None;
    }
    let peer = peer(inner, parts, held);
    match Box::pin(protection.admit(parts, peer)).await {
        Ok(grant) => {
            let principal = Principal(Arc::from(grant.principal()));
            parts.extensions.insert(principal);
            parts.extensions.insert(grant);
            None
        }
        Err(refused) => Some(refusal(protection, None, &refused)),
    }
}

/// Refuses to call a tool, or to read, get or watch something else, whose scopes
/// the token lacks, while the whole answer can still be a refusal. Among others
/// in a batch, it is answered by itself.
pub(super) fn admit_call(inner: &Inner, parts: &Parts, body: &Bytes) -> Option<Response<Body>> {
    let protection = inner.options.protection.as_ref()?;
    let Ok(Messages::One(message)) = split(body) else {
        return None;
    };
    let Ok(Envelope::Request { id, method, params }) = scan(message) else {
        return None;
    };
    let scoped = [
        method::TOOLS_CALL,
        method::RESOURCES_READ,
        method::RESOURCES_SUBSCRIBE,
        method::SUBSCRIPTIONS_LISTEN,
        method::PROMPTS_GET,
    ];
    if !scoped.contains(&&*method) {
        return None;
    }
    // Whoever reads the params says what is wrong with them.
    let call = decode::<Named<'_>>(params?).ok()?;
    let granted = Granted::over_http(&parts.extensions);
    let watched = call.notifications.unwrap_or_default();
    let names = call.name.or(call.uri).into_iter();
    let names = names.chain(watched.resource_subscriptions.into_iter().flatten());
    let refused = |name: Cow<'_, str>| inner.handle.refused_scopes(&method, &name, &granted);
    let mut lacking: Vec<_> = names.filter_map(refused).flatten().collect();
    if lacking.is_empty() {
        return None;
    }
    lacking.sort_unstable();
    lacking.dedup();
    let refused = Refused::Insufficient(protection.all_scopes(&lacking));
    let scheme = granted.grant().map_or(Scheme::Bearer, Scheme::of);
    Some(refusal(protection, Some(&id), &(refused, scheme)))
}

/// When the streams end that a request opens: soon after its token is no longer
/// good. Whoever goes on with them must bring another one.
pub(super) fn until(parts: &Parts) -> Option<Lifetime> {
    Lifetime::of(&parts.extensions)
}

/// The end of a stream whose token is no longer good, for the request that
/// opened it.
pub(super) fn ended(id: &RequestId) -> Bytes {
    error_response(
        Some(id),
        &Refused::Invalid("the token is no longer good").object(),
    )
}

/// Where a request comes from, before anybody knows whose it is.
fn peer(inner: &Inner, parts: &Parts, held: Option<&Answering>) -> Option<IpAddr> {
    let of_connection = || match held?.account().holder {
        Holder::Address(address) => Some(address),
        Holder::Unknown | Holder::Network(_) | Holder::Principal(_) => None,
    };
    let told = inner.options.peer.read(parts);
    told.map(network).or_else(of_connection)
}

fn refusal(
    protection: &Protection,
    id: Option<&RequestId>,
    (refused, scheme): &(Refused, Scheme),
) -> Response<Body> {
    let mut response = answer::refusal(refused.status(), id, &refused.object());
    let headers = response.headers_mut();
    for challenge in refused.challenges(protection, *scheme) {
        headers.append(header::WWW_AUTHENTICATE, challenge);
    }
    let nonce = protection.nonce().filter(|_| *refused == Refused::UseNonce);
    if let Some(nonce) = nonce.and_then(|it| HeaderValue::try_from(it).ok()) {
        headers.insert("dpop-nonce", nonce);
    }
    if *refused == Refused::Unavailable {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// What a call names, without being copied.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    notifications: Option<Watched<'a>>,
}

/// What a stream of changes is to tell of.
#[derive(Default, Deserialize)]
struct Watched<'a> {
    #[serde(borrow, default, rename = "resourceSubscriptions")]
    resource_subscriptions: Option<Vec<Cow<'a, str>>>,
}
