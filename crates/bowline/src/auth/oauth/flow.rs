//! The whole flow, from a challenge to tokens.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Response;
use reqwest::{
    Method,
    header::{ACCEPT, HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};

use super::{
    account::{ActiveTokens, TokenOrigin, now},
    context::AuthContext,
    discover::Discovery,
    dpop::DpopKey,
    unattended::GrantFlow,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret},
    proto::{
        auth::{ChallengeSummary, Tokens},
        http::header::name,
    },
    transport::ChallengeAction,
};

/// Maximum number of pings that check whether we are signed in.
const MAX_PINGS: u32 = 4;

/// A request that was refused.
pub(super) struct RejectedRequest {
    /// The server's challenge.
    pub(super) challenge: ChallengeSummary,
    /// The token that the request was sent with.
    pub(super) token: Option<Secret>,
    /// Number of times the same request was refused before.
    pub(super) attempt: u32,
}

impl AuthContext {
    /// Handles a challenge: obtains tokens with as little interaction as
    /// possible.
    pub(super) async fn authorize(
        self,
        rejected: RejectedRequest,
    ) -> Result<ChallengeAction, AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        let active = self.account.tokens();
        let token = active.as_ref().map(|active| &active.access_token);
        // Another task or process has obtained new tokens already.
        if token != rejected.token.as_ref() && token.is_some() {
            return Ok(ChallengeAction::Retry);
        }
        if self.adopt_stored(rejected.token.as_ref()).await? {
            return Ok(ChallengeAction::Retry);
        }
        let discovery = self.discover(&rejected.challenge).await?;
        let current = self.tokens_if_current(active, &discovery).await?;
        if let Some(active) = &current {
            if active.origin == TokenOrigin::Granted && rejected.attempt > 0 {
                return Err(self.record_failure(tokens_rejected()));
            }
            if self
                .refresh_after_rejection(active, &discovery, &rejected)
                .await?
            {
                return Ok(ChallengeAction::Retry);
            }
        }
        if let Some(error) = self.account.recent_failure() {
            return Err(error);
        }
        let challenged = rejected.challenge.scope.as_ref();
        let (configured, metadata) = (&self.settings.scopes, discovery.metadata.as_ref());
        let mut scopes = Scopes::select(challenged, configured, metadata);
        if let Some(active) = &current {
            // Keep the scopes that were granted before.
            scopes = active.requested.union(&scopes);
        }
        self.account.record_attempt(&scopes);
        let obtained = self.obtain(&discovery, scopes, &rejected.challenge).await;
        obtained.map_err(|error| self.record_failure(error))?;
        Ok(ChallengeAction::Retry)
    }

    /// Remembers why the sign-in failed.
    fn record_failure(&self, error: AuthError) -> AuthError {
        self.account.record_failure(&error);
        error
    }

    /// Returns the tokens, if the resource and its authorization server are
    /// still those that they were issued for. Others are useless.
    async fn tokens_if_current(
        &self,
        active: Option<Arc<ActiveTokens>>,
        discovery: &Discovery,
    ) -> Result<Option<Arc<ActiveTokens>>, AuthError> {
        let Some(active) = active else {
            return Ok(None);
        };
        if active.issuer == discovery.server.issuer && active.resource == discovery.resource {
            return Ok(Some(active));
        }
        self.discard(&active).await?;
        Ok(None)
    }

    /// Renews rejected tokens, if that can help.
    async fn refresh_after_rejection(
        &self,
        active: &ActiveTokens,
        discovery: &Discovery,
        rejected: &RejectedRequest,
    ) -> Result<bool, AuthError> {
        if active.refresh_token.is_none()
            || (active.origin == TokenOrigin::Refreshed && rejected.attempt > 0)
        {
            return Ok(false);
        }
        let error = match self.refresh(active, &discovery.server).await {
            Err(error) if error.kind() == AuthErrorKind::Refused => error,
            result => return result,
        };
        if ["server_error", "temporarily_unavailable", "slow_down"]
            .iter()
            .any(|code| error.has_code(code))
        {
            return Err(error);
        }
        if error.has_code("invalid_client") {
            // It has forgotten our registration, if there was one.
            self.forget_client(&discovery.server.issuer).await?;
        }
        // The user has to sign in again.
        Ok(false)
    }

    /// Obtains tokens with the configured grant, and stores them.
    pub(super) async fn obtain(
        &self,
        discovery: &Discovery,
        scopes: Scopes,
        challenge: &ChallengeSummary,
    ) -> Result<(), AuthError> {
        let mut active = self.grant(discovery, &scopes, challenge).await?;
        active.requested = scopes;
        self.store_tokens(active).await
    }

    async fn grant(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        challenge: &ChallengeSummary,
    ) -> Result<ActiveTokens, AuthError> {
        let key = self.dpop_key(discovery, challenge)?;
        let granted = match &self.settings.grant_flow {
            GrantFlow::AuthorizationCode => {
                let scopes = scopes.clone().with_offline_access(&discovery.server);
                self.grant_by_user(discovery, &scopes, key.as_ref()).await
            }
            flow => {
                self.grant_unattended(flow, discovery, scopes, key.as_ref())
                    .await
            }
        };
        let (registered, tokens) = granted?;
        if challenge.dpop_required && !tokens.is_dpop_bound() {
            let reason = "the server requires DPoP-bound tokens, which its authorization server \
                          does not issue";
            return Err(AuthError::new(AuthErrorKind::Rejected, reason));
        }
        let mut active = self.active_tokens(tokens, key.as_ref(), TokenOrigin::Granted);
        active.issuer.clone_from(&discovery.server.issuer);
        active.resource.clone_from(&discovery.resource);
        active.client_id = registered.client_id;
        Ok(active)
    }

    /// Returns the key to bind tokens to, if they are to be bound.
    fn dpop_key(
        &self,
        discovery: &Discovery,
        challenge: &ChallengeSummary,
    ) -> Result<Option<Arc<DpopKey>>, AuthError> {
        let metadata = discovery.metadata.as_ref();
        let required = metadata.is_some_and(|resource| resource.dpop_bound_access_tokens_required);
        if !(self.settings.dpop || challenge.dpop_required || required) {
            return Ok(None);
        }
        let existing = self.account.tokens().and_then(|active| active.key.clone());
        match existing {
            Some(key) => Ok(Some(key)),
            None => Ok(Some(Arc::new(DpopKey::new()?))),
        }
    }
}

/// Operations without a challenge.
impl AuthContext {
    /// Reads the store, once.
    pub(super) async fn load_stored(&self) -> Result<(), AuthError> {
        if !self.account.store_loaded() {
            let stored = self.load_tokens().await?;
            self.account.set_tokens(stored);
        }
        Ok(())
    }

    pub(super) async fn load_stored_locked(self) -> Result<(), AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await
    }

    /// Signs in ahead of any call. Sends a harmless request to learn what the
    /// server requires and whether it accepts our tokens.
    pub(super) async fn sign_in(self) -> Result<(), AuthError> {
        self.account.clear_failure();
        self.clone().load_stored_locked().await?;
        for attempt in 0..MAX_PINGS {
            let active = self.account.tokens();
            let response = self.ping(active.as_deref()).await?;
            let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
            let challenge = ChallengeSummary::from_headers(challenges.map(HeaderValue::as_bytes));
            let wants_nonce = challenge.error.as_deref() == Some("use_dpop_nonce");
            if response.status().as_u16() != 401 {
                if let Some(active) = active {
                    return self.request_missing_scopes(&active).await;
                }
                if self.resource_metadata(&challenge).await?.is_none() {
                    return Ok(());
                }
            } else if self.record_nonce(self.account.server.as_str(), &response) && wants_nonce {
                continue;
            }
            let rejected = RejectedRequest {
                challenge,
                token: active.map(|active| active.access_token.clone()),
                attempt,
            };
            self.clone().authorize(rejected).await?;
        }
        Err(tokens_rejected())
    }

    async fn ping(&self, active: Option<&ActiveTokens>) -> Result<Response<Bytes>, AuthError> {
        let url = &self.account.server;
        let mut headers = match active {
            Some(active) => self.credentials(active, &Method::POST, url)?,
            None => HeaderMap::new(),
        };
        headers.insert(ACCEPT, HeaderValue::from_static(name::ACCEPT_BOTH));
        let ping = br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#.to_vec();
        self.fetch.post_json(url.as_str(), headers, ping).await
    }
}

fn tokens_rejected() -> AuthError {
    let reason =
        "the server does not accept the tokens that its authorization server issues for it";
    AuthError::new(AuthErrorKind::Rejected, reason)
}

impl AuthContext {
    /// Returns the tokens with the context they were issued in, which they do
    /// not contain themselves.
    pub(super) fn active_tokens(
        &self,
        tokens: Tokens,
        key: Option<&Arc<DpopKey>>,
        origin: TokenOrigin,
    ) -> ActiveTokens {
        let margin = self.settings.renewal_margin;
        let renew_at = tokens.expires_in.map(|it| renew_at(now(), it, margin));
        ActiveTokens {
            issuer: String::new(),
            resource: String::new(),
            client_id: String::new(),
            renew_at,
            requested: Scopes::default(),
            key: key.filter(|_| tokens.is_dpop_bound()).cloned(),
            access_token: tokens.access_token,
            refresh_token: tokens.refresh_token,
            origin,
        }
    }
}

/// Returns when to renew a token that is valid for `seconds` from now.
fn renew_at(now: u64, seconds: u64, margin: Duration) -> u64 {
    let early = margin.as_secs().min(seconds / 2);
    now.saturating_add(seconds - early)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_renewed_ahead_of_their_end_and_not_at_once() {
        for (seconds, margin, after) in [
            (3600, 30, 3570),
            (3600, 600, 3000),
            (3600, 0, 3600),
            (3600, 7200, 1800),
            (10, 30, 5),
            (0, 30, 0),
        ] {
            let at = renew_at(1000, seconds, Duration::from_secs(margin));
            assert_eq!(at, 1000 + after, "{seconds} {margin}");
        }
        assert_eq!(renew_at(1, u64::MAX, Duration::ZERO), u64::MAX);
    }
}
