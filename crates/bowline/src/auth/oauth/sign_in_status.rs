//! How we stand with a server, as far as is known here.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{account::ActiveTokens, context::AuthContext};
use crate::auth::{AuthError, Scopes};

/// A sign-in that is known. See [`OAuth::signed_in`](super::OAuth::signed_in).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignInStatus {
    /// The authorization server that gave the tokens.
    pub issuer: String,
    /// What they are for.
    pub resource: String,
    /// The client that they were given to.
    pub client_id: String,
    /// What was asked for, which may be more than was granted.
    pub scopes: Scopes,
    /// When the access token must be renewed, if it ends.
    pub expires_at: Option<SystemTime>,
    /// Whether it can be renewed without a user.
    pub renewable: bool,
    /// Whether the tokens are bound to a key (DPoP).
    pub dpop_bound: bool,
}

impl AuthContext {
    /// How we stand, without asking anybody else.
    pub(super) async fn sign_in_status(self) -> Result<Option<SignInStatus>, AuthError> {
        let _lock = self.account.renewal_lock.lock().await;
        self.load_stored().await?;
        let active = self.account.tokens();
        Ok(active.as_deref().map(SignInStatus::from_tokens))
    }
}

impl SignInStatus {
    fn from_tokens(active: &ActiveTokens) -> Self {
        let at = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        Self {
            issuer: active.issuer.clone(),
            resource: active.resource.clone(),
            client_id: active.client_id.clone(),
            scopes: active.requested.clone(),
            expires_at: active.renew_at.and_then(at),
            renewable: active.refresh_token.is_some(),
            dpop_bound: active.key.is_some(),
        }
    }
}
