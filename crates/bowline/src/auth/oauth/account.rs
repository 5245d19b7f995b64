//! The state of one server: its current tokens and past attempts.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::Url;
use tokio::time::Instant;

use super::dpop::DpopKey;
use crate::{
    auth::{AuthError, AuthErrorKind, Scopes, Secret},
    sync,
};

/// How long a failed sign-in is not retried automatically.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// Maximum number of scope sets that are remembered as attempted.
const MAX_ATTEMPTED_SCOPES: usize = 64;

/// The authorization state of one server.
pub(super) struct Account {
    pub(super) server: Url,
    /// Held while tokens are obtained or renewed: one task at a time.
    pub(super) renewal_lock: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    store_loaded: bool,
    tokens: Option<Arc<ActiveTokens>>,
    /// Whether the tokens could not be stored, so the store has older ones.
    store_is_stale: bool,
    attempted_scopes: Vec<Scopes>,
    /// Scopes that calls needed but did not have.
    missing_scopes: Scopes,
    failure: Option<(Instant, AuthError)>,
    /// The DPoP nonce that each origin requires.
    nonces: HashMap<String, String>,
}

/// The tokens in use.
#[derive(Clone)]
pub(super) struct ActiveTokens {
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) client_id: String,
    pub(super) access_token: Secret,
    pub(super) refresh_token: Option<Secret>,
    /// When to renew, in seconds since 1970.
    pub(super) renew_at: Option<u64>,
    /// The requested scopes, which may be more than were granted.
    pub(super) requested: Scopes,
    /// The key that the tokens are bound to, if any.
    pub(super) key: Option<Arc<DpopKey>>,
    pub(super) origin: TokenOrigin,
}

/// How tokens were obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenOrigin {
    /// Loaded from the store.
    Stored,
    /// With an older refresh token.
    Refreshed,
    /// By signing in.
    Granted,
}

impl ActiveTokens {
    pub(super) fn needs_renewal(&self, now: u64) -> bool {
        self.renew_at.is_some_and(|at| at <= now)
    }
}

impl Account {
    pub(super) fn new(server: &Url) -> Self {
        Self {
            server: server.clone(),
            renewal_lock: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    pub(super) fn tokens(&self) -> Option<Arc<ActiveTokens>> {
        self.state().tokens.clone()
    }

    /// Replaces the tokens in use.
    pub(super) fn set_tokens(&self, active: Option<ActiveTokens>) {
        let mut state = self.state();
        state.store_loaded = true;
        if active.is_some() {
            state.failure = None;
        }
        state.tokens = active.map(Arc::new);
    }

    pub(super) fn store_is_stale(&self) -> bool {
        self.state().store_is_stale
    }

    pub(super) fn set_store_is_stale(&self, stale: bool) {
        self.state().store_is_stale = stale;
    }

    /// Returns whether the store was read.
    pub(super) fn store_loaded(&self) -> bool {
        self.state().store_loaded
    }

    pub(super) fn nonce(&self, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        self.state().nonces.get(&origin).cloned()
    }

    /// Remembers the nonce from a response, one per origin. Few servers take
    /// part, so the map stays small.
    pub(super) fn record_nonce(&self, url: &Url, nonce: &str) {
        let origin = url.origin().ascii_serialization();
        let mut state = self.state();
        if state.nonces.len() < 16 || state.nonces.contains_key(&origin) {
            state.nonces.insert(origin, nonce.to_owned());
        }
    }

    /// Records that these scopes were requested.
    pub(super) fn record_attempt(&self, scopes: &Scopes) {
        let mut state = self.state();
        if state.attempted_scopes.len() < MAX_ATTEMPTED_SCOPES
            && !state.attempted_scopes.contains(scopes)
        {
            state.attempted_scopes.push(scopes.clone());
        }
    }

    pub(super) fn was_attempted(&self, scopes: &Scopes) -> bool {
        let state = self.state();
        let is_same =
            |attempted: &Scopes| attempted.contains_all(scopes) && scopes.contains_all(attempted);
        state.attempted_scopes.len() >= MAX_ATTEMPTED_SCOPES
            || state.attempted_scopes.iter().any(is_same)
    }

    /// Records that a call needed these scopes.
    pub(super) fn record_missing(&self, scopes: &Scopes) {
        let mut state = self.state();
        state.missing_scopes = state.missing_scopes.union(scopes);
    }

    pub(super) fn clear_missing(&self) {
        self.state().missing_scopes = Scopes::default();
    }

    pub(super) fn missing_scopes(&self) -> Scopes {
        self.state().missing_scopes.clone()
    }

    /// Returns the last failed sign-in, if it is too recent to retry.
    pub(super) fn recent_failure(&self) -> Option<AuthError> {
        let state = self.state();
        let (at, error) = state.failure.as_ref()?;
        // Do not open a browser for every call, or all night long.
        let by_user = error.kind() == AuthErrorKind::User || error.has_code("access_denied");
        (by_user || at.elapsed() < RETRY_DELAY).then(|| error.clone())
    }

    /// Remembers a failure that would recur or disturb the user.
    pub(super) fn record_failure(&self, error: &AuthError) {
        let is_persistent = matches!(
            error.kind(),
            AuthErrorKind::User | AuthErrorKind::Refused | AuthErrorKind::Rejected
        );
        if is_persistent {
            self.state().failure = Some((Instant::now(), error.clone()));
        }
    }

    pub(super) fn clear_failure(&self) {
        let mut state = self.state();
        state.failure = None;
        state.attempted_scopes.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement.
        sync::lock(&self.state)
    }
}

/// Returns the current time in seconds since 1970, since stored times must
/// survive a restart.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
