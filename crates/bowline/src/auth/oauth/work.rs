//! Work on one server, which goes on though nobody waits for it any more.

use std::sync::Arc;

use super::{account::Account, machine::Way, settings::Settings};
use crate::auth::{AuthError, AuthErrorKind, fetch::Fetcher, guard::Guard};

/// What all phases have at hand.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) settings: Arc<Settings>,
    pub(super) account: Arc<Account>,
    pub(super) fetch: Fetcher,
}

impl Work {
    pub(super) fn new(settings: Arc<Settings>, account: Arc<Account>) -> Self {
        let guard = Guard::new(&account.server, settings.allow_private);
        let mut guard = guard.allowing_plain_http(settings.allow_plain_http);
        if let Some(issuer) = &settings.issuer {
            guard = guard.trusting(issuer);
        }
        if let Some(endpoint) = &settings.token_endpoint {
            guard = guard.trusting(endpoint);
        }
        if let Way::Enterprise(enterprise) = &settings.way {
            guard = guard.trusting(&enterprise.token_endpoint);
        }
        Self {
            fetch: Fetcher::new(settings.fetch(), guard),
            settings,
            account,
        }
    }

    /// Does some work on a task of its own. Calls come and go, and their
    /// futures are dropped; a token that is renewed for one of them, or a user
    /// who is signing in, must not be lost with it.
    pub(super) async fn detached<T, F, Fut>(self, work: F) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: FnOnce(Self) -> Fut,
        Fut: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        match tokio::spawn(work(self)).await {
            Ok(done) => done,
            Err(_) => {
                let why = "the work was given up";
                Err(AuthError::new(AuthErrorKind::Unreachable, why))
            }
        }
    }
}
