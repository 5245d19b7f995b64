//! Token checks for requests: before the body is read and before a tool is
//! called.

use std::{borrow::Cow, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, header, request::Parts};
use serde::Deserialize;

use super::{
    Body, Inner, Principal, activity::RequestGuard, peer::network, quotas::QuotaKey, response,
    status::ResponseStatus,
};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, RequestId, decode, error_response, scan, split_batch},
        model::method,
    },
    server::auth::{Protection, permissions::Permissions, rejection::AuthRejection, token::Scheme},
};

pub(super) use crate::server::auth::lifetime::TokenLifetime;

/// When to try again if tokens cannot be verified now.
const VERIFICATION_WAIT: Duration = Duration::from_secs(5);

/// Admits a request with a valid token and records its principal. Returns the
/// response for requests without one and for metadata requests.
pub(super) async fn admit(
    inner: &Inner,
    parts: &mut Parts,
    guard: Option<&RequestGuard>,
) -> Option<Response<Body>> {
    let protection = inner.options.protection.as_ref()?;
    if parts.uri.path() == protection.metadata_path() {
        return Some(protection.metadata().respond(&parts.method));
    }
    // CORS preflight requests carry no token.
    if parts.method == Method::OPTIONS {
        return None;
    }
    let peer = peer(inner, parts, guard);
    match Box::pin(protection.admit(parts, peer)).await {
        Ok(claims) => {
            let principal = Principal(Arc::from(claims.principal()));
            parts.extensions.insert(principal);
            parts.extensions.insert(claims);
            None
        }
        Err(refused) => Some(refusal_response(protection, None, &refused)),
    }
}

/// Rejects a call to a tool, or to read, get or subscribe to something, if the
/// token lacks scopes, while the whole response can still be a rejection.
/// Within a batch, it gets its own error instead.
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
    // The handler reports what is wrong with the params.
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
        .claims()
        .map_or(Scheme::Bearer, Scheme::for_claims);
    Some(refusal_response(protection, Some(&id), &(refused, scheme)))
}

/// Returns when the streams opened by a request end: soon after its token
/// expires. To continue, the client must present another token.
pub(super) fn stream_token_lifetime(parts: &Parts) -> Option<TokenLifetime> {
    TokenLifetime::from_extensions(&parts.extensions)
}

/// Returns the error that ends a stream whose token has expired, for the
/// request that opened it.
pub(super) fn token_expired_error(id: &RequestId) -> Bytes {
    error_response(
        Some(id),
        &AuthRejection::InvalidToken("the token has expired or was revoked").to_error_object(),
    )
}

/// Returns the address of a request before its principal is known.
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
    let status = match refused {
        AuthRejection::Unavailable => ResponseStatus::unavailable(VERIFICATION_WAIT),
        _ => refused.status().into(),
    };
    let mut response = response::jsonrpc_error(status, id, &refused.to_error_object());
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
    response
}

/// The target of a call, borrowed.
#[derive(Deserialize)]
struct TargetParams<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    notifications: Option<SubscriptionFilter<'a>>,
}

/// The filter of a stream of changes.
#[derive(Default, Deserialize)]
struct SubscriptionFilter<'a> {
    #[serde(borrow, default, rename = "resourceSubscriptions")]
    resource_subscriptions: Option<Vec<Cow<'a, str>>>,
}
