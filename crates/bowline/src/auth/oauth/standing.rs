//! How we stand with a server, as far as is known here.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{account::Held, work::Work};
use crate::auth::{AuthError, Scopes};

/// A sign-in that is known. See [`OAuth::signed_in`](super::OAuth::signed_in).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedIn {
    /// The authorization server that gave the tokens.
    pub issuer: String,
    /// What they are for.
    pub resource: String,
    /// The client that they were given to.
    pub client_id: String,
    /// What was asked for, which may be more than was granted.
    pub scopes: Scopes,
    /// When the access token must be renewed, if it ends.
    pub until: Option<SystemTime>,
    /// Whether it can be renewed without a user.
    pub renewable: bool,
    /// Whether the tokens are bound to a key (DPoP).
    pub bound: bool,
}

impl Work {
    /// How we stand, without asking anybody else.
    pub(super) async fn standing(self) -> Result<Option<SignedIn>, AuthError> {
        let _turn = self.account.turn.lock().await;
        self.recall().await?;
        let held = self.account.held();
        Ok(held.as_deref().map(SignedIn::of))
    }
}

impl SignedIn {
    fn of(held: &Held) -> Self {
        let at = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        Self {
            issuer: held.issuer.clone(),
            resource: held.resource.clone(),
            client_id: held.client_id.clone(),
            scopes: held.requested.clone(),
            until: held.renew_at.and_then(at),
            renewable: held.refresh_token.is_some(),
            bound: held.key.is_some(),
        }
    }
}
