//! Tokens that are signed by their issuer (RFC 7519, 9068).

use std::{fmt, time::Duration};

use serde_json::{Map, Value};

use super::{AccessToken, FetchError, Grant, Keys, Refusal, TokenVerifier, claims, keys::Keyring};
use crate::{jose::Compact, transport::BoxFuture};

/// How far clocks may differ, unless given.
const LEEWAY: Duration = Duration::from_secs(30);
/// More than that is not a difference of clocks.
const MOST_LEEWAY: Duration = Duration::from_secs(5 * 60);

/// Verifies tokens that are JSON Web Tokens, signed by their issuer.
///
/// - The key decides about the algorithm, and is one of the issuer's.
/// - `iss` is the issuer's address, to the letter. `exp` must be there.
/// - A `typ` must be one of an access token, or plain `JWT`.
/// - Addresses of keys in the token are not looked at.
pub struct JwtVerifier {
    keys: Keyring,
    leeway: Duration,
    strict: bool,
}

impl JwtVerifier {
    /// Verifies the tokens of an issuer, with these keys.
    #[must_use]
    pub fn new(issuer: &str, keys: Keys) -> Self {
        Self {
            keys: Keyring::new(issuer, keys),
            leeway: LEEWAY,
            strict: false,
        }
    }

    /// Verifies the tokens of an issuer, with the keys that it publishes.
    ///
    /// # Errors
    ///
    /// Where there is no HTTP client to be had.
    #[cfg(feature = "http-client")]
    pub fn of(issuer: &str) -> Result<Self, FetchError> {
        Ok(Self::new(issuer, Keys::published(super::WebFetch::new()?)))
    }

    /// How far the issuer's clock and ours may differ: half a minute unless
    /// given, five minutes at most.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(MOST_LEEWAY);
        self
    }

    /// Accepts only what says that it is an access token, by the `typ` of
    /// RFC 9068. For issuers that say so.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Fetches the keys, unless they are there. Whoever waits for this before
    /// serving learns of a wrong address when the server starts, and not from
    /// its users, who get 503.
    ///
    /// # Errors
    ///
    /// Where there are no keys to be had.
    pub async fn ready(&self) -> Result<(), FetchError> {
        self.keys.ready().await
    }

    async fn judge(&self, token: AccessToken<'_>) -> Result<Grant, Refusal> {
        // What is no such token may be one of another kind.
        let token = Compact::read(token.secret()).map_err(|_| Refusal::NotOurs)?;
        let issuer = self.keys.issuer();
        // Nobody fetches keys for the tokens of others.
        if token.claimed_issuer().as_deref() != Some(issuer) {
            return Err(Refusal::NotOurs);
        }
        if !self.is_access_token(token.kind()) {
            return Err(Refusal::Invalid("the token is not an access token"));
        }
        let unknown = Refusal::Invalid("the token is not signed in a way that is known here");
        let algorithm = token.algorithm().ok_or(unknown)?;
        let keys = self.keys.for_key(token.key_id()).await?;
        let said = keys
            .candidates(token.key_id(), algorithm)
            .find_map(|key| token.verify(key).ok());
        let said = said.ok_or(Refusal::Invalid("the token is not signed by its issuer"))?;
        let said: Map<String, Value> = serde_json::from_slice(&said)
            .map_err(|_| Refusal::Invalid("the token says nothing"))?;
        if said.get("iss").and_then(Value::as_str) != Some(issuer) {
            return Err(Refusal::Invalid("the token is from another issuer"));
        }
        claims::in_time(&said, self.leeway)?;
        claims::read(issuer, said)
    }

    fn is_access_token(&self, kind: Option<&str>) -> bool {
        let Some(kind) = kind else {
            return !self.strict;
        };
        let kind = kind.to_ascii_lowercase();
        match kind.strip_prefix("application/").unwrap_or(&kind) {
            "at+jwt" => true,
            "jwt" => !self.strict,
            _ => false,
        }
    }
}

impl TokenVerifier for JwtVerifier {
    fn issuer(&self) -> &str {
        self.keys.issuer()
    }

    fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, Refusal>> {
        Box::pin(self.judge(token))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.keys.issuer())
            .finish_non_exhaustive()
    }
}
