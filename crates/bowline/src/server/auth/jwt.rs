//! JSON Web Tokens signed by their issuer (RFC 7519, 9068).

use std::{fmt, time::Duration};

use serde_json::{Map, Value};

use super::{
    AccessToken, KeySource, TokenClaims, TokenVerifier, VerifyError, claims, keys::KeyCache,
};
use crate::{fetch::FetchError, jose::CompactJws, transport::BoxFuture};

/// The default clock skew allowed.
const DEFAULT_LEEWAY: Duration = Duration::from_secs(30);
/// The maximum clock skew; more is not a difference of clocks.
const MAX_LEEWAY: Duration = Duration::from_secs(5 * 60);

/// Verifies JSON Web Tokens signed by their issuer.
///
/// - The key determines the algorithm and must be one of the issuer's.
/// - `iss` must equal the issuer's URL exactly. `exp` is mandatory.
/// - `typ`, if present, must be that of an access token, or `JWT`.
/// - Key URLs in the token are ignored.
pub struct JwtVerifier {
    keys: KeyCache,
    leeway: Duration,
    require_typ: bool,
}

impl JwtVerifier {
    /// Creates a verifier for an issuer's tokens with these keys.
    #[must_use]
    pub fn new(issuer: &str, keys: KeySource) -> Self {
        Self {
            keys: KeyCache::new(issuer, keys),
            leeway: DEFAULT_LEEWAY,
            require_typ: false,
        }
    }

    /// Creates a verifier for an issuer's tokens with the keys it publishes.
    ///
    /// # Errors
    ///
    /// Returns an error if no HTTP client can be created.
    #[cfg(feature = "http-client")]
    pub fn discover(issuer: &str) -> Result<Self, FetchError> {
        Ok(Self::new(
            issuer,
            KeySource::discovered(super::WebFetch::new()?),
        ))
    }

    /// Sets how far the issuer's clock and ours may differ: 30 seconds by
    /// default, five minutes at most.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(MAX_LEEWAY);
        self
    }

    /// Accepts only tokens whose `typ` is that of an access token (RFC 9068).
    /// For issuers that set it.
    #[must_use]
    pub fn require_typ(mut self) -> Self {
        self.require_typ = true;
        self
    }

    /// Fetches the keys unless they are cached. Call this before serving to
    /// detect a wrong URL at startup; otherwise clients get 503.
    ///
    /// # Errors
    ///
    /// Returns an error if the keys cannot be fetched.
    pub async fn prefetch_keys(&self) -> Result<(), FetchError> {
        self.keys.prefetch().await
    }

    async fn verify_token(&self, token: AccessToken<'_>) -> Result<TokenClaims, VerifyError> {
        // Anything else may be another kind of token.
        let token = CompactJws::parse(token.secret()).map_err(|_| VerifyError::OtherIssuer)?;
        let issuer = self.keys.issuer();
        // Keys are not fetched for other issuers' tokens.
        if token.claimed_issuer().as_deref() != Some(issuer) {
            return Err(VerifyError::OtherIssuer);
        }
        if !self.is_access_token(token.typ()) {
            return Err(VerifyError::Invalid("the token is not an access token"));
        }
        let unknown = VerifyError::Invalid("the token is not signed with a supported algorithm");
        let algorithm = token.algorithm().ok_or(unknown)?;
        let keys = self.keys.keys_for_id(token.key_id()).await?;
        let payload = keys
            .candidates(token.key_id(), algorithm)
            .find_map(|key| token.verify(key).ok());
        let payload = payload.ok_or(VerifyError::Invalid(
            "the token is not signed by its issuer",
        ))?;
        let payload: Map<String, Value> = serde_json::from_slice(&payload)
            .map_err(|_| VerifyError::Invalid("the token has no claims"))?;
        if payload.get("iss").and_then(Value::as_str) != Some(issuer) {
            return Err(VerifyError::Invalid(
                "the token was issued by another issuer",
            ));
        }
        claims::check_validity(&payload, self.leeway)?;
        claims::token_claims(issuer, payload)
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

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
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
