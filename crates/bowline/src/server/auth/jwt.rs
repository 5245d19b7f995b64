//! Tokens that are signed by their issuer (RFC 7519, 9068).

use std::{fmt, time::Duration};

use serde_json::{Map, Value};

use super::{
    AccessToken, FetchError, Grant, KeySource, TokenVerifier, VerifyError, claims, keys::KeyCache,
};
use crate::{jose::CompactJws, transport::BoxFuture};

/// How far clocks may differ, unless given.
const DEFAULT_LEEWAY: Duration = Duration::from_secs(30);
/// More than that is not a difference of clocks.
const MAX_LEEWAY: Duration = Duration::from_secs(5 * 60);

/// Verifies tokens that are JSON Web Tokens, signed by their issuer.
///
/// - The key decides about the algorithm, and is one of the issuer's.
/// - `iss` is the issuer's address, to the letter. `exp` must be there.
/// - A `typ` must be one of an access token, or plain `JWT`.
/// - Addresses of keys in the token are not looked at.
pub struct JwtVerifier {
    keys: KeyCache,
    leeway: Duration,
    require_typ: bool,
}

impl JwtVerifier {
    /// Verifies the tokens of an issuer, with these keys.
    #[must_use]
    pub fn new(issuer: &str, keys: KeySource) -> Self {
        Self {
            keys: KeyCache::new(issuer, keys),
            leeway: DEFAULT_LEEWAY,
            require_typ: false,
        }
    }

    /// Verifies the tokens of an issuer, with the keys that it publishes.
    ///
    /// # Errors
    ///
    /// Where there is no HTTP client to be had.
    #[cfg(feature = "http-client")]
    pub fn discover(issuer: &str) -> Result<Self, FetchError> {
        Ok(Self::new(
            issuer,
            KeySource::discovered(super::WebFetch::new()?),
        ))
    }

    /// How far the issuer's clock and ours may differ: half a minute unless
    /// given, five minutes at most.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(MAX_LEEWAY);
        self
    }

    /// Accepts only what says that it is an access token, by the `typ` of
    /// RFC 9068. For issuers that say so.
    #[must_use]
    pub fn require_typ(mut self) -> Self {
        self.require_typ = true;
        self
    }

    /// Fetches the keys, unless they are there. Whoever waits for this before
    /// serving learns of a wrong address when the server starts, and not from
    /// its users, who get 503.
    ///
    /// # Errors
    ///
    /// Where there are no keys to be had.
    pub async fn prefetch_keys(&self) -> Result<(), FetchError> {
        self.keys.prefetch().await
    }

    async fn verify_token(&self, token: AccessToken<'_>) -> Result<Grant, VerifyError> {
        // What is no such token may be one of another kind.
        let token = CompactJws::parse(token.secret()).map_err(|_| VerifyError::OtherIssuer)?;
        let issuer = self.keys.issuer();
        // Nobody fetches keys for the tokens of others.
        if token.claimed_issuer().as_deref() != Some(issuer) {
            return Err(VerifyError::OtherIssuer);
        }
        if !self.is_access_token(token.typ()) {
            return Err(VerifyError::Invalid("the token is not an access token"));
        }
        let unknown = VerifyError::Invalid("the token is not signed in a way that is known here");
        let algorithm = token.algorithm().ok_or(unknown)?;
        let keys = self.keys.keys_for_id(token.key_id()).await?;
        let payload = keys
            .candidates(token.key_id(), algorithm)
            .find_map(|key| token.verify(key).ok());
        let payload = payload.ok_or(VerifyError::Invalid(
            "the token is not signed by its issuer",
        ))?;
        let payload: Map<String, Value> = serde_json::from_slice(&payload)
            .map_err(|_| VerifyError::Invalid("the token says nothing"))?;
        if payload.get("iss").and_then(Value::as_str) != Some(issuer) {
            return Err(VerifyError::Invalid("the token is from another issuer"));
        }
        claims::check_validity(&payload, self.leeway)?;
        claims::into_grant(issuer, payload)
    }

    fn is_access_token(&self, kind: Option<&str>) -> bool {
        let Some(kind) = kind else {
            return !self.require_typ;
        };
        let kind = kind.to_ascii_lowercase();
        match kind.strip_prefix("application/").unwrap_or(&kind) {
            "at+jwt" => true,
            "jwt" => !self.require_typ,
            _ => false,
        }
    }
}

impl TokenVerifier for JwtVerifier {
    fn issuer(&self) -> &str {
        self.keys.issuer()
    }

    fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, VerifyError>> {
        Box::pin(self.verify_token(token))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.keys.issuer())
            .finish_non_exhaustive()
    }
}
