//! The whole of it: from a refusal to tokens.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Method,
    header::{ACCEPT, HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};

use super::{
    account::{Held, How, now},
    discover::Found,
    machine::Way,
    proof::ProofKey,
    work::Work,
};
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret, fetch::FetchResponse},
    proto::{
        auth::{Demand, Tokens},
        http::header::name,
    },
    transport::Verdict,
};

/// How often a server is asked whether we are signed in.
const MOST_PINGS: u32 = 4;

/// A request that was refused.
pub(super) struct Refused {
    /// What the server wants.
    pub(super) demand: Demand,
    /// The token that the request had.
    pub(super) token: Option<Secret>,
    /// How many times the same request was refused before.
    pub(super) attempt: u32,
}

impl Work {
    /// The server does not let us in: gets tokens, by the least that will do.
    pub(super) async fn admit(self, refused: Refused) -> Result<Verdict, AuthError> {
        let _turn = self.account.turn.lock().await;
        let held = self.account.held();
        let token = held.as_ref().map(|held| &held.access_token);
        // Somebody was faster, here or in another process.
        if token != refused.token.as_ref() && token.is_some() {
            return Ok(Verdict::Again);
        }
        if self.adopt(refused.token.as_ref()).await? {
            return Ok(Verdict::Again);
        }
        let found = self.discover(&refused.demand).await?;
        let ours = self.still_ours(held, &found).await?;
        if let Some(held) = &ours {
            if held.how == How::Granted && refused.attempt > 0 {
                return Err(self.failed(rejected()));
            }
            if self.refresh_on(held, &found, &refused).await? {
                return Ok(Verdict::Again);
            }
        }
        if let Some(error) = self.account.recent_failure() {
            return Err(error);
        }
        let challenged = refused.demand.scope.as_ref();
        let (wanted, metadata) = (&self.settings.scopes, found.metadata.as_ref());
        let mut scopes = Scopes::choose(challenged, wanted, metadata);
        if let Some(held) = &ours {
            // What was granted before is not given up.
            scopes = held.requested.union(&scopes);
        }
        self.account.trying(&scopes);
        let obtained = self.obtain(&found, scopes, &refused.demand).await;
        obtained.map_err(|error| self.failed(error))?;
        Ok(Verdict::Again)
    }

    /// Remembers why there was no sign-in.
    fn failed(&self, error: AuthError) -> AuthError {
        self.account.failed(&error);
        error
    }

    /// The tokens, if the same authorization server guards the same resource
    /// as when they were given. Others are of no use to us any more.
    async fn still_ours(
        &self,
        held: Option<Arc<Held>>,
        found: &Found,
    ) -> Result<Option<Arc<Held>>, AuthError> {
        let Some(held) = held else {
            return Ok(None);
        };
        if held.issuer == found.server.issuer && held.resource == found.resource {
            return Ok(Some(held));
        }
        self.discard(&held).await?;
        Ok(None)
    }

    /// Renews tokens that were refused, if that can help.
    async fn refresh_on(
        &self,
        held: &Held,
        found: &Found,
        refused: &Refused,
    ) -> Result<bool, AuthError> {
        if held.refresh_token.is_none() || (held.how == How::Renewed && refused.attempt > 0) {
            return Ok(false);
        }
        let error = match self.refresh(held, &found.server).await {
            Err(error) if error.kind() == AuthErrorKind::Refused => error,
            done => return done,
        };
        if ["server_error", "temporarily_unavailable", "slow_down"]
            .iter()
            .any(|code| error.is_refusal(code))
        {
            return Err(error);
        }
        if error.is_refusal("invalid_client") {
            // It has forgotten a registration of ours, if it was one.
            self.forget_client(&found.server.issuer).await?;
        }
        // Then they have to sign in again.
        Ok(false)
    }

    /// Gets tokens in the way that the application has chosen, and keeps them.
    pub(super) async fn obtain(
        &self,
        found: &Found,
        scopes: Scopes,
        demand: &Demand,
    ) -> Result<(), AuthError> {
        let mut held = self.grant(found, &scopes, demand).await?;
        held.requested = scopes;
        self.keep(held).await
    }

    async fn grant(
        &self,
        found: &Found,
        scopes: &Scopes,
        demand: &Demand,
    ) -> Result<Held, AuthError> {
        let key = self.key_for(found, demand)?;
        let granted = match &self.settings.way {
            Way::User => {
                let scopes = scopes.clone().offline(&found.server);
                self.by_user(found, &scopes, key.as_ref()).await
            }
            machine => self.by_machine(machine, found, scopes, key.as_ref()).await,
        };
        let (registered, tokens) = granted?;
        if demand.proof && !tokens.is_bound() {
            let why = "the server wants bound tokens, which its guard does not give";
            return Err(AuthError::new(AuthErrorKind::Rejected, why));
        }
        let mut held = self.held_of(tokens, key.as_ref(), How::Granted);
        held.issuer.clone_from(&found.server.issuer);
        held.resource.clone_from(&found.resource);
        held.client_id = registered.client_id;
        Ok(held)
    }

    /// The key that tokens are to be bound to, if they are to be bound.
    fn key_for(&self, found: &Found, demand: &Demand) -> Result<Option<Arc<ProofKey>>, AuthError> {
        let metadata = found.metadata.as_ref();
        let required = metadata.is_some_and(|said| said.dpop_bound_access_tokens_required);
        if !(self.settings.bind || demand.proof || required) {
            return Ok(None);
        }
        let kept = self.account.held().and_then(|held| held.key.clone());
        match kept {
            Some(key) => Ok(Some(key)),
            None => Ok(Some(Arc::new(ProofKey::new()?))),
        }
    }
}

/// Without a refusal.
impl Work {
    /// Looks into the store, once.
    pub(super) async fn recall(&self) -> Result<(), AuthError> {
        if !self.account.looked() {
            let stored = self.stored().await?;
            self.account.hold(stored);
        }
        Ok(())
    }

    pub(super) async fn recalled(self) -> Result<(), AuthError> {
        let _turn = self.account.turn.lock().await;
        self.recall().await
    }

    /// Signs in ahead of any call. What the server wants, and whether it takes
    /// what we have, is found out by asking it something harmless.
    pub(super) async fn sign_in(self) -> Result<(), AuthError> {
        self.account.forgive();
        self.clone().recalled().await?;
        for attempt in 0..MOST_PINGS {
            let held = self.account.held();
            let answer = self.ping(held.as_deref()).await?;
            let challenges = answer.headers.get_all(WWW_AUTHENTICATE).iter();
            let demand = Demand::read(challenges.map(HeaderValue::as_bytes));
            let wants_nonce = demand.error.as_deref() == Some("use_dpop_nonce");
            if answer.status != 401 {
                if let Some(held) = held {
                    return self.widen(&held).await;
                }
                if self.resource_metadata(&demand).await?.is_none() {
                    return Ok(());
                }
            } else if self.saw_nonce(self.account.server.as_str(), &answer) && wants_nonce {
                continue;
            }
            let refused = Refused {
                demand,
                token: held.map(|held| held.access_token.clone()),
                attempt,
            };
            self.clone().admit(refused).await?;
        }
        Err(rejected())
    }

    async fn ping(&self, held: Option<&Held>) -> Result<FetchResponse, AuthError> {
        let url = &self.account.server;
        let mut headers = match held {
            Some(held) => self.credentials(held, &Method::POST, url)?,
            None => HeaderMap::new(),
        };
        headers.insert(ACCEPT, HeaderValue::from_static(name::ACCEPT_BOTH));
        let ping = br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#.to_vec();
        self.fetch.post_json(url.as_str(), headers, ping).await
    }
}

fn rejected() -> AuthError {
    let why = "the server does not take the tokens that its guard gives for it";
    AuthError::new(AuthErrorKind::Rejected, why)
}

impl Work {
    /// Tokens as they are used; whose they are is not in them.
    pub(super) fn held_of(&self, tokens: Tokens, key: Option<&Arc<ProofKey>>, how: How) -> Held {
        let margin = self.settings.renewal_margin;
        let renew_at = tokens.expires_in.map(|it| renew_at(now(), it, margin));
        Held {
            issuer: String::new(),
            resource: String::new(),
            client_id: String::new(),
            renew_at,
            requested: Scopes::default(),
            key: key.filter(|_| tokens.is_bound()).cloned(),
            access_token: tokens.access_token,
            refresh_token: tokens.refresh_token,
            how,
        }
    }
}

/// When to renew a token that is good for so many seconds from now on.
fn renew_at(now: u64, seconds: u64, margin: Duration) -> u64 {
    let ahead = margin.as_secs().min(seconds / 2);
    now.saturating_add(seconds - ahead)
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
