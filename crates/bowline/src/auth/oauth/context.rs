//! Operations for one server, which continue even if nobody waits for them.

use std::sync::Arc;

use super::{account::Account, settings::Settings, unattended::GrantFlow};
use crate::auth::{AuthError, AuthErrorKind, policy_fetcher::PolicyFetcher, url_policy::UrlPolicy};

/// The context shared by all phases.
#[derive(Clone)]
pub(super) struct AuthContext {
    pub(super) settings: Arc<Settings>,
    pub(super) account: Arc<Account>,
    pub(super) fetch: PolicyFetcher,
}

impl AuthContext {
    pub(super) fn new(settings: Arc<Settings>, account: Arc<Account>) -> Self {
        let policy = UrlPolicy::new(&account.server, settings.allow_private);
        let mut policy = policy.allow_plain_http(settings.allow_plain_http);
        if let Some(issuer) = &settings.issuer {
            policy = policy.trust(issuer);
        }
        if let Some(endpoint) = &settings.token_endpoint {
            policy = policy.trust(endpoint);
        }
        if let GrantFlow::IdentityProvider(provider) = &settings.grant_flow {
            policy = policy.trust(&provider.token_endpoint);
        }
        Self {
            fetch: PolicyFetcher::new(settings.fetch(), policy),
            settings,
            account,
        }
    }

    /// Runs an operation on its own task. The futures of calls are dropped at
    /// any time; a token that is being renewed, or a user who is signing in,
    /// must not be lost with them.
    pub(super) async fn run_detached<T, F, Fut>(self, operation: F) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: FnOnce(Self) -> Fut,
        Fut: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        match tokio::spawn(operation(self)).await {
            Ok(result) => result,
            Err(_) => {
                let reason = "the authorization task was cancelled";
                Err(AuthError::new(AuthErrorKind::Unreachable, reason))
            }
        }
    }
}
