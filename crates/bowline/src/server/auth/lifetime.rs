//! The lifetime of streams opened with a token.

use std::{
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use http::Extensions;
use tokio::time::Instant;

use super::{AccessToken, Protection, TokenClaims, rejection::AuthRejection};
use crate::{proto::auth::Secret, transport::BoxFuture};

/// How long a stream may outlive its token, to allow for clock skew.
const LEEWAY: Duration = Duration::from_secs(60);
/// How long a token without an expiry is trusted. It may have been revoked
/// meanwhile.
const RECHECK_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// The delay before the next attempt if verification was unavailable.
const RETRY_DELAY: Duration = Duration::from_secs(30);
/// How long a stream continues while verification is unavailable: an issuer may
/// be down briefly.
const MAX_UNVERIFIED: Duration = Duration::from_secs(10 * 60);

/// How long a stream may stay open. To continue afterwards, the client must
/// present another token.
pub(crate) struct TokenLifetime {
    check_at: Instant,
    recheck: Option<Recheck>,
    /// When the token was last verified.
    verified_at: Instant,
    pending_check: Option<BoxFuture<'static, Result<TokenClaims, AuthRejection>>>,
}

/// A token without an expiry, to be verified again.
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
        claims: &TokenClaims,
        token: Secret,
        peer: Option<IpAddr>,
    ) -> Self {
        Self(Arc::new(RecheckInner {
            protection: protection.clone(),
            principal: claims.principal(),
            token,
            peer,
        }))
    }

    /// Verifies the token again. It must still be valid and have the same
    /// holder.
    async fn verify(self) -> Result<TokenClaims, AuthRejection> {
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
        let claims = protection.verify(token).await?;
        let claims = claims.with_scope_implication(protection.scope_implication().cloned());
        if claims.principal() != *principal {
            return Err(AuthRejection::InvalidToken(
                "the token belongs to another holder",
            ));
        }
        if !protection
            .required_scopes()
            .iter()
            .all(|scope| claims.allows(scope))
        {
            return Err(AuthRejection::InsufficientScope(
                protection.required_scopes().to_vec(),
            ));
        }
        Ok(claims)
    }
}

impl TokenLifetime {
    /// Returns the lifetime of a stream that a request opens, or `None` if no
    /// token was required, or if it has no expiry and cannot be verified again.
    pub(crate) fn from_extensions(extensions: &Extensions) -> Option<Self> {
        let claims = extensions.get::<TokenClaims>()?;
        let recheck = extensions.get::<Recheck>().cloned();
        let now = Instant::now();
        Some(Self {
            check_at: claims_deadline(claims)
                .or_else(|| recheck.as_ref().map(|_| now + RECHECK_INTERVAL))?,
            recheck,
            verified_at: now,
            pending_check: None,
        })
    }

    /// Returns when [`poll_expired`](Self::poll_expired) must be called next,
    /// or `None` while a check is running.
    pub(crate) fn next_check(&self) -> Option<Instant> {
        Some(self.check_at).filter(|_| self.pending_check.is_none())
    }

    /// Polls whether the lifetime is over. A check may take some time.
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
            Ok(claims) => {
                self.verified_at = now;
                self.check_at = claims_deadline(&claims).unwrap_or(now + RECHECK_INTERVAL);
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

/// Returns when a stream opened with this token ends.
fn claims_deadline(claims: &TokenClaims) -> Option<Instant> {
    let left = claims.expires_at()?.duration_since(SystemTime::now());
    Instant::now().checked_add(left.unwrap_or_default() + LEEWAY)
}
