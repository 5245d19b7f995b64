//! Where protection meets requests: before anything is read, and before a tool
//! is called.

use std::{borrow::Cow, net::IpAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, header, request::Parts};
use serde::Deserialize;

use super::{
    Body, Inner, Principal, activity::RequestGuard, peer::network, quotas::QuotaKey, response,
};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, RequestId, decode, error_response, scan, split_batch},
        model::method,
    },
    server::auth::{Protection, grant::Permissions, rejection::AuthRejection, token::Scheme},
};

pub(super) use crate::server::auth::lifetime::TokenLifetime;

/// Lets a request in that brings a good token, and notes whose it is. Gives the
/// answer to those that do not, and to those that ask where tokens are to be
/// had.
pub(super) async fn admit(
    inner: &Inner,
    parts: &mut Parts,
    guard: Option<&RequestGuard>,
) -> Option<Response<Body>> {
    let protection = inner.options.protection.as_ref()?;
    if parts.uri.path() == protection.metadata_path() {
        return Some(protection.metadata().respond(&parts.method));
    }
    // Browsers ask whether they may ask, and bring nothing.
    if parts.method == Method::OPTIONS {
        return None;
    }
    let peer = peer(inner, parts, guard);
    match Box::pin(protection.admit(parts, peer)).await {
        Ok(grant) => {
            let principal = Principal(Arc::from(grant.principal()));
            parts.extensions.insert(principal);
            parts.extensions.insert(grant);
            None
        }
        Err(refused) => Some(refusal_response(protection, None, &refused)),
    }
}

/// Refuses to call a tool, or to read, get or watch something else, whose scopes
/// the token lacks, while the whole answer can still be a refusal. Among others
/// in a batch, it is answered by itself.
pub(super) fn admit_call(inner: &Inner, parts: &Parts, body: &Bytes) -> Option<Response<Body>> {
    let protection = inner.options.protection.as_ref()?;
    let Ok(Messages::Single(message)) = split_batch(body) else {
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
    let call = decode::<TargetParams<'_>>(params?).ok()?;
    let permissions = Permissions::from_extensions(&parts.extensions);
    let subscriptions = call.notifications.unwrap_or_default();
    let names = call.name.or(call.uri).into_iter();
    let names = names.chain(subscriptions.resource_subscriptions.into_iter().flatten());
    let refused = |name: Cow<'_, str>| {
        inner
            .handler
            .insufficient_scopes(&method, &name, &permissions)
    };
    let mut missing: Vec<_> = names.filter_map(refused).flatten().collect();
    if missing.is_empty() {
        return None;
    }
    missing.sort_unstable();
    missing.dedup();
    let refused = AuthRejection::InsufficientScope(protection.all_scopes(&missing));
    let scheme = permissions
        .grant()
        .map_or(Scheme::Bearer, Scheme::for_grant);
    Some(refusal_response(protection, Some(&id), &(refused, scheme)))
}

/// When the streams end that a request opens: soon after its token is no longer
/// good. Whoever goes on with them must bring another one.
pub(super) fn stream_token_lifetime(parts: &Parts) -> Option<TokenLifetime> {
    TokenLifetime::from_extensions(&parts.extensions)
}

/// The end of a stream whose token is no longer good, for the request that
/// opened it.
pub(super) fn token_expired_error(id: &RequestId) -> Bytes {
    error_response(
        Some(id),
        &AuthRejection::InvalidToken("the token is no longer good").to_error_object(),
    )
}

/// Where a request comes from, before anybody knows whose it is.
fn peer(inner: &Inner, parts: &Parts, guard: Option<&RequestGuard>) -> Option<IpAddr> {
    let connection_address = || match guard?.quota().key {
        QuotaKey::Address(address) => Some(address),
        QuotaKey::Unknown | QuotaKey::Network(_) | QuotaKey::Principal(_) => None,
    };
    let custom = inner.options.peer_source.read(parts);
    custom.map(network).or_else(connection_address)
}

fn refusal_response(
    protection: &Protection,
    id: Option<&RequestId>,
    (refused, scheme): &(AuthRejection, Scheme),
) -> Response<Body> {
    let mut response = response::jsonrpc_error(refused.status(), id, &refused.to_error_object());
    let headers = response.headers_mut();
    for challenge in refused.challenges(protection, *scheme) {
        headers.append(header::WWW_AUTHENTICATE, challenge);
    }
    let nonce = protection
        .nonce()
        .filter(|_| *refused == AuthRejection::UseNonce);
    if let Some(nonce) = nonce.and_then(|it| HeaderValue::try_from(it).ok()) {
        headers.insert("dpop-nonce", nonce);
    }
    if *refused == AuthRejection::Unavailable {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// What a call names, without being copied.
#[derive(Deserialize)]
struct TargetParams<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    notifications: Option<SubscriptionFilter<'a>>,
}

/// What a stream of changes is to tell of.
#[derive(Default, Deserialize)]
struct SubscriptionFilter<'a> {
    #[serde(borrow, default, rename = "resourceSubscriptions")]
    resource_subscriptions: Option<Vec<Cow<'a, str>>>,
}
