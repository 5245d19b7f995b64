//! Token introspection (RFC 7662): opaque tokens that only their issuer can
//! read.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use serde_json::{Map, Value};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::{
    AccessToken, TokenClaims, TokenVerifier, VerifyError, claims,
    issuer_fetch::IssuerFetch,
    issuer_throttle::{LookupRequest, Throttle},
};
use crate::{fetch::Fetch, jose::digest, proto::auth::Secret, sync, transport::BoxFuture};

/// How long a result is cached. A revoked token stays valid here for that long.
const DEFAULT_CACHE_TTL: Duration = Duration::from_secs(15);
/// The maximum number of cached results.
const MAX_CACHE_ENTRIES: usize = 10_000;

/// Verifies tokens by asking their issuer.
///
/// Results, good and bad, are cached for 15 seconds, or for
/// [`cache_ttl`](Self::cache_ttl), under a digest of the token, not the token
/// itself. There is one call per token at a time, no matter how many requests
/// bring it.
///
/// By default, the issuer is asked about at most 100 tokens per second and 32
/// at once; see [`max_calls_per_second`](Self::max_calls_per_second) and
/// [`max_concurrent_calls`](Self::max_concurrent_calls). Requests beyond that
/// get 503, except for tokens that were valid before: a quarter of the
/// concurrent calls is reserved for them. One address may use a quarter of the
/// calls left for unknown tokens, so made-up tokens do not shut out other
/// clients.
///
/// Anyone who sees a token can use it, so a token that names its issuer is
/// shown to no other. If several issuers have opaque tokens, each needs a
/// [prefix](Self::token_prefix).
pub struct IntrospectionVerifier {
    issuer: Box<str>,
    endpoint: Box<str>,
    fetch: IssuerFetch,
    credentials: Secret,
    default_audience: Option<Box<str>>,
    token_prefix: Box<str>,
    cache_ttl: Duration,
    throttle: Throttle,
    cache: Mutex<HashMap<String, CachedResult>>,
}

struct CachedResult {
    result: Result<TokenClaims, VerifyError>,
    expires_at: Instant,
}

impl IntrospectionVerifier {
    /// Creates a verifier that asks the issuer at this endpoint and
    /// authenticates with a client id and secret.
    pub fn new(
        issuer: &str,
        endpoint: &str,
        (client_id, secret): (&str, &str),
        fetch: impl Fetch,
    ) -> Self {
        // RFC 6749, 2.3.1: both parts are form-encoded first.
        let (client_id, secret) = (form_encode(client_id), form_encode(secret));
        let pair = Zeroizing::new([client_id.as_str(), secret.as_str()].join(":"));
        // Allocated at full size: growing would leave unwiped copies behind.
        let mut credentials = String::with_capacity(8 + 4 * pair.len().div_ceil(3));
        credentials.push_str("Basic ");
        STANDARD.encode_string(&*pair, &mut credentials);
        Self {
            issuer: issuer.into(),
            endpoint: endpoint.into(),
            fetch: IssuerFetch::new(fetch),
            credentials: Secret::new(credentials),
            default_audience: None,
            token_prefix: Box::default(),
            cache_ttl: DEFAULT_CACHE_TTL,
            throttle: Throttle::new(),
            cache: Mutex::default(),
        }
    }

    /// Sets the audience of tokens whose issuer returns none. Only for issuers
    /// that report other clients' tokens as inactive to us.
    #[must_use]
    pub fn default_audience(mut self, audience: &str) -> Self {
        self.default_audience = Some(audience.into());
        self
    }

    /// Sets how long results are cached.
    #[must_use]
    pub fn cache_ttl(mut self, ttl: Duration) -> Self {
        self.cache_ttl = ttl;
        self
    }

    /// Sets the prefix of all opaque tokens of this issuer. It is not asked
    /// about any others.
    #[must_use]
    pub fn token_prefix(mut self, prefix: &str) -> Self {
        self.token_prefix = prefix.into();
        self
    }

    /// Sets the maximum number of concurrent calls to the issuer.
    #[must_use]
    pub fn max_concurrent_calls(mut self, max: usize) -> Self {
        self.throttle.set_concurrent(max);
        self
    }

    /// Sets the maximum number of calls to the issuer per second. Tokens that
    /// were valid before do not count.
    #[must_use]
    pub fn max_calls_per_second(mut self, max: u32) -> Self {
        self.throttle.set_per_second(max);
        self
    }

    async fn verify_token(&self, token: AccessToken<'_>) -> Result<TokenClaims, VerifyError> {
        let key = digest(token.secret().as_bytes());
        if let Some(result) = self.cached(&key) {
            return result;
        }
        let lookup = async {
            let result = self.introspect(token).await;
            // A token that could not be verified may be verifiable next time.
            if !matches!(result, Err(VerifyError::Unavailable)) {
                self.cache(key.clone(), &result);
            }
            result
        };
        let lookup_request = LookupRequest {
            key: &key,
            was_valid: self.was_valid(&key),
            peer: token.peer(),
        };
        self.throttle.run(lookup_request, lookup).await
    }

    async fn introspect(&self, token: AccessToken<'_>) -> Result<TokenClaims, VerifyError> {
        let credentials = zeroizing_bytes(self.credentials.expose().as_bytes());
        let credentials = HeaderValue::from_maybe_shared(credentials);
        let mut credentials = credentials.map_err(|_| VerifyError::Unavailable)?;
        credentials.set_sensitive(true);
        let request = Request::builder()
            .method(Method::POST)
            .uri(&*self.endpoint)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::AUTHORIZATION, credentials)
            .body(request_body(token));
        let request = request.map_err(|_| VerifyError::Unavailable)?;
        let body = self.fetch.fetch(request).await;
        let body = body.map_err(|_| VerifyError::Unavailable)?;
        let introspection: Map<String, Value> =
            serde_json::from_slice(&body).map_err(|_| VerifyError::Unavailable)?;
        if introspection.get("active") != Some(&Value::Bool(true)) {
            return Err(VerifyError::Invalid("the token is not active"));
        }
        let issuer = introspection.get("iss").and_then(Value::as_str);
        if issuer.is_some_and(|issuer| *issuer != *self.issuer) {
            return Err(VerifyError::Invalid(
                "the token was issued by another issuer",
            ));
        }
        if introspection.contains_key("exp") {
            claims::check_validity(&introspection, Duration::ZERO)?;
        }
        let lacks_audience = !introspection.contains_key("aud");
        let claims = claims::token_claims(&self.issuer, introspection)?;
        Ok(match &self.default_audience {
            Some(audience) if lacks_audience => claims.with_audience(audience),
            _ => claims,
        })
    }

    fn cached(&self, key: &str) -> Option<Result<TokenClaims, VerifyError>> {
        let entries = self.lock_cache();
        let entry = entries
            .get(key)
            .filter(|it| it.expires_at > Instant::now())?;
        Some(entry.result.clone())
    }

    /// Returns whether a token was valid when it was last verified.
    fn was_valid(&self, key: &str) -> bool {
        let entries = self.lock_cache();
        entries.get(key).is_some_and(|entry| entry.result.is_ok())
    }

    fn cache(&self, key: String, result: &Result<TokenClaims, VerifyError>) {
        let expires = result.as_ref().ok().and_then(TokenClaims::expires_at);
        let left = expires.map(|it| it.duration_since(SystemTime::now()).unwrap_or_default());
        let now = Instant::now();
        let expires_at = now + left.map_or(self.cache_ttl, |left| left.min(self.cache_ttl));
        let mut entries = self.lock_cache();
        // Valid results are kept longer: they give a token priority.
        if entries.len() >= MAX_CACHE_ENTRIES {
            entries.retain(|_, entry| entry.expires_at > now || entry.result.is_ok());
        }
        if entries.len() >= MAX_CACHE_ENTRIES {
            entries.retain(|_, entry| entry.expires_at > now);
        }
        if entries.len() < MAX_CACHE_ENTRIES || entries.contains_key(&key) {
            let result = result.clone();
            entries.insert(key, CachedResult { result, expires_at });
        }
    }

    fn lock_cache(&self) -> MutexGuard<'_, HashMap<String, CachedResult>> {
        sync::lock(&self.cache)
    }
}

impl TokenVerifier for IntrospectionVerifier {
    fn issuer(&self) -> &str {
        &self.issuer
    }

    fn opaque_prefix(&self) -> Option<&str> {
        Some(&self.token_prefix)
    }

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        Box::pin(self.verify_token(token))
    }
}

impl fmt::Debug for IntrospectionVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectionVerifier")
            .field("issuer", &self.issuer)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// Returns the introspection request for a token, form-encoded.
fn request_body(token: AccessToken<'_>) -> Bytes {
    let token = form_encode(token.secret());
    let form = ["token=", token.as_str(), "&token_type_hint=access_token"].concat();
    Bytes::from_owner(Zeroizing::new(form.into_bytes()))
}

/// Returns a copy that is wiped when its last holder drops it.
fn zeroizing_bytes(bytes: &[u8]) -> Bytes {
    Bytes::from_owner(Zeroizing::new(bytes.to_vec()))
}

/// Form-encodes a value. Allocated at full size: growing would leave unwiped
/// copies behind.
fn form_encode(value: &str) -> Zeroizing<String> {
    let mut encoded = Zeroizing::new(String::with_capacity(3 * value.len()));
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::*;

    fn is_wiped(_: &impl ZeroizeOnDrop) {}

    #[test]
    fn copies_of_secrets_are_wiped_and_never_moved() {
        let secret = "~s:cret/+".repeat(1000);
        let encoded = form_encode(&secret);
        is_wiped(&encoded);
        assert!(encoded.starts_with("%7Es%3Acret%2F%2B%7E"));
        // The buffer did not grow.
        assert_eq!(encoded.capacity(), 3 * secret.len());
    }
}
