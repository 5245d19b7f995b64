//! How long what a token opened may stay open.

use std::{
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use http::Extensions;
use tokio::time::Instant;

use super::{AccessToken, Grant, Protection, refused::Refused};
use crate::{proto::auth::Secret, transport::BoxFuture};

/// How long a stream may outlive its token: clocks differ.
const LEEWAY: Duration = Duration::from_secs(60);
/// How long a token is believed that does not say until when it is good. It may
/// have been revoked meanwhile.
const RECHECK: Duration = Duration::from_secs(5 * 60);
/// When to look again if nobody could say.
const RETRY: Duration = Duration::from_secs(30);
/// How long a stream goes on if nobody can say: an issuer may be away for a
/// moment.
const MAX_UNKNOWN: Duration = Duration::from_secs(10 * 60);

/// How long a stream may stay open. Whoever goes on with it afterwards must
/// bring another token.
pub(crate) struct Lifetime {
    until: Instant,
    recheck: Option<Recheck>,
    /// When the token was last known to be good.
    known_good: Instant,
    asking: Option<BoxFuture<'static, Result<Grant, Refused>>>,
}

/// A token that says nothing of its end, to be looked at again.
#[derive(Clone)]
pub(crate) struct Recheck(Arc<Kept>);

struct Kept {
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
        Self(Arc::new(Kept {
            protection: protection.clone(),
            principal: grant.principal(),
            token,
            peer,
        }))
    }

    /// Has the token verified again. It must still be good, and the same
    /// holder's.
    async fn verify(self) -> Result<Grant, Refused> {
        let Kept {
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
        let grant = grant.under(protection.hierarchy().cloned());
        if grant.principal() != *principal {
            return Err(Refused::Invalid("the token is another holder's"));
        }
        if !protection.scopes().iter().all(|scope| grant.allows(scope)) {
            return Err(Refused::Insufficient(protection.scopes().to_vec()));
        }
        Ok(grant)
    }
}

impl Lifetime {
    /// Of what a request opens. Nothing where no token was asked for, or where
    /// it says nothing of its end and cannot be looked at again.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        let grant = extensions.get::<Grant>()?;
        let recheck = extensions.get::<Recheck>().cloned();
        let now = Instant::now();
        Some(Self {
            until: end(grant).or_else(|| recheck.as_ref().map(|_| now + RECHECK))?,
            recheck,
            known_good: now,
            asking: None,
        })
    }

    /// When it must be [looked at](Self::poll_over); none while that is done.
    pub(crate) fn until(&self) -> Option<Instant> {
        Some(self.until).filter(|_| self.asking.is_none())
    }

    /// Whether it is over. It may take some time to know that.
    pub(crate) fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let now = Instant::now();
        if self.asking.is_none() {
            if self.until > now {
                return Poll::Ready(false);
            }
            let Some(recheck) = self.recheck.clone() else {
                return Poll::Ready(true);
            };
            self.asking = Some(Box::pin(recheck.verify()));
        }
        let Some(asking) = &mut self.asking else {
            return Poll::Ready(false);
        };
        let said = ready!(asking.as_mut().poll(cx));
        self.asking = None;
        Poll::Ready(match said {
            Ok(grant) => {
                self.known_good = now;
                self.until = end(&grant).unwrap_or(now + RECHECK);
                self.until <= now
            }
            Err(Refused::Unavailable) => {
                self.until = now + RETRY;
                self.until > self.known_good + MAX_UNKNOWN
            }
            Err(_) => true,
        })
    }
}

/// When a stream ends that is opened under this grant.
fn end(grant: &Grant) -> Option<Instant> {
    let left = grant.expires()?.duration_since(SystemTime::now());
    Instant::now().checked_add(left.unwrap_or_default() + LEEWAY)
}
