//! How long what a token opened may stay open.

use std::{
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use http::Extensions;
use tokio::time::Instant;

use super::{AccessToken, Grant, Protection, rejection::AuthRejection};
use crate::{proto::auth::Secret, transport::BoxFuture};

/// How long a stream may outlive its token: clocks differ.
const LEEWAY: Duration = Duration::from_secs(60);
/// How long a token is believed that does not say until when it is good. It may
/// have been revoked meanwhile.
const RECHECK_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// When to look again if nobody could say.
const RETRY_DELAY: Duration = Duration::from_secs(30);
/// How long a stream goes on if nobody can say: an issuer may be away for a
/// moment.
const MAX_UNVERIFIED: Duration = Duration::from_secs(10 * 60);

/// How long a stream may stay open. Whoever goes on with it afterwards must
/// bring another token.
pub(crate) struct TokenLifetime {
    check_at: Instant,
    recheck: Option<Recheck>,
    /// When the token was last known to be good.
    verified_at: Instant,
    pending_check: Option<BoxFuture<'static, Result<Grant, AuthRejection>>>,
}

/// A token that says nothing of its end, to be looked at again.
#[derive(Clone)]
pub(crate) struct Recheck(Arc<RecheckInner>);

struct RecheckInner {
    protection: Protection,
    principal: String,
    token: Secret,
    peer: Option<IpAddr>,
}

impl Recheck {
    pub(super) fn new(
        protection: &Protection,
        grant: &Grant,
        token: Secret,
        peer: Option<IpAddr>,
    ) -> Self {
        Self(Arc::new(RecheckInner {
            protection: protection.clone(),
            principal: grant.principal(),
            token,
            peer,
        }))
    }

    /// Has the token verified again. It must still be good, and the same
    /// holder's.
    async fn verify(self) -> Result<Grant, AuthRejection> {
        let RecheckInner {
            protection,
            principal,
            token,
            peer,
        } = &*self.0;
        let token = AccessToken {
            secret: token.expose(),
            peer: *peer,
        };
        let grant = protection.verify(token).await?;
        let grant = grant.with_scope_implication(protection.scope_implication().cloned());
        if grant.principal() != *principal {
            return Err(AuthRejection::InvalidToken("the token is another holder's"));
        }
        if !protection
            .required_scopes()
            .iter()
            .all(|scope| grant.allows(scope))
        {
            return Err(AuthRejection::InsufficientScope(
                protection.required_scopes().to_vec(),
            ));
        }
        Ok(grant)
    }
}

impl TokenLifetime {
    /// Of what a request opens. Nothing where no token was asked for, or where
    /// it says nothing of its end and cannot be looked at again.
    pub(crate) fn from_extensions(extensions: &Extensions) -> Option<Self> {
        let grant = extensions.get::<Grant>()?;
        let recheck = extensions.get::<Recheck>().cloned();
        let now = Instant::now();
        Some(Self {
            check_at: grant_deadline(grant)
                .or_else(|| recheck.as_ref().map(|_| now + RECHECK_INTERVAL))?,
            recheck,
            verified_at: now,
            pending_check: None,
        })
    }

    /// When it must be [looked at](Self::poll_over); none while that is done.
    pub(crate) fn next_check(&self) -> Option<Instant> {
        Some(self.check_at).filter(|_| self.pending_check.is_none())
    }

    /// Whether it is over. It may take some time to know that.
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let now = Instant::now();
        if self.pending_check.is_none() {
            if self.check_at > now {
                return Poll::Ready(false);
            }
            let Some(recheck) = self.recheck.clone() else {
                return Poll::Ready(true);
            };
            self.pending_check = Some(Box::pin(recheck.verify()));
        }
        let Some(check) = &mut self.pending_check else {
            return Poll::Ready(false);
        };
        let result = ready!(check.as_mut().poll(cx));
        self.pending_check = None;
        Poll::Ready(match result {
            Ok(grant) => {
                self.verified_at = now;
                self.check_at = grant_deadline(&grant).unwrap_or(now + RECHECK_INTERVAL);
                self.check_at <= now
            }
            Err(AuthRejection::Unavailable) => {
                self.check_at = now + RETRY_DELAY;
                self.check_at > self.verified_at + MAX_UNVERIFIED
            }
            Err(_) => true,
        })
    }
}

/// When a stream ends that is opened under this grant.
fn grant_deadline(grant: &Grant) -> Option<Instant> {
    let left = grant.expires_at()?.duration_since(SystemTime::now());
    Instant::now().checked_add(left.unwrap_or_default() + LEEWAY)
}
