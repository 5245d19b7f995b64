//! The known sign-in for a server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{account::ActiveTokens, context::AuthContext};
use crate::auth::{AuthError, Scopes};

/// A known sign-in. See
/// [`OAuth::sign_in_status`](super::OAuth::sign_in_status).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignInStatus {
    /// The authorization server that issued the tokens.
    pub issuer: String,
    /// The resource they are for.
    pub resource: String,
    /// The client they were issued to.
    pub client_id: String,
    /// The requested scopes, which may be more than were granted.
    pub scopes: Scopes,
    /// When the access token must be renewed, if it expires.
    pub expires_at: Option<SystemTime>,
    /// Whether it can be renewed without a user.
    pub renewable: bool,
    /// Whether the tokens are bound to a key (DPoP).
    pub dpop_bound: bool,
}

impl AuthContext {
    /// Returns the known sign-in, without network requests.
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
