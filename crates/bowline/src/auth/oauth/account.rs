//! What is known of one server: the tokens in use, and what was tried.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::Url;
use tokio::time::Instant;

use super::proof::ProofKey;
use crate::auth::{AuthError, AuthErrorKind, Scopes, Secret};

/// For how long a sign-in that failed is not tried again by itself.
const HOLD_OFF: Duration = Duration::from_secs(30);

/// How many sets of scopes are remembered as tried.
const MOST_TRIED: usize = 64;

/// One server, and our standing there.
pub(super) struct Account {
    pub(super) server: Url,
    /// Held by whoever gets or renews tokens: one at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    looked: bool,
    held: Option<Arc<Held>>,
    /// Whether those could not be kept, so that the store has older ones.
    ahead: bool,
    tried: Vec<Scopes>,
    /// What calls needed and did not get.
    lacking: Scopes,
    failure: Option<(Instant, AuthError)>,
    /// The nonce that each origin wants to see in proofs.
    nonces: HashMap<String, String>,
}

/// Tokens in use.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) client_id: String,
    pub(super) access_token: Secret,
    pub(super) refresh_token: Option<Secret>,
    /// When it is time to renew, in seconds since 1970.
    pub(super) renew_at: Option<u64>,
    /// What was asked for, which may be more than was granted.
    pub(super) requested: Scopes,
    /// The key that the tokens are bound to, if they are.
    pub(super) key: Option<Arc<ProofKey>>,
    pub(super) how: How,
}

/// How we came by tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// They were in the store.
    Found,
    /// By an older refresh token.
    Renewed,
    /// By signing in.
    Granted,
}

impl Held {
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.renew_at.is_some_and(|at| at <= now)
    }
}

impl Account {
    pub(super) fn new(server: &Url) -> Self {
        Self {
            server: server.clone(),
            turn: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    pub(super) fn held(&self) -> Option<Arc<Held>> {
        self.state().held.clone()
    }

    /// Uses these tokens from now on, or none.
    pub(super) fn hold(&self, held: Option<Held>) {
        let mut state = self.state();
        state.looked = true;
        if held.is_some() {
            state.failure = None;
        }
        state.held = held.map(Arc::new);
    }

    pub(super) fn is_ahead(&self) -> bool {
        self.state().ahead
    }

    pub(super) fn set_ahead(&self, ahead: bool) {
        self.state().ahead = ahead;
    }

    /// Whether the store was looked into.
    pub(super) fn looked(&self) -> bool {
        self.state().looked
    }

    pub(super) fn nonce(&self, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        self.state().nonces.get(&origin).cloned()
    }

    /// Remembers the nonce that an answer names. There are as many as there
    /// are servers that take part, which is few.
    pub(super) fn saw_nonce(&self, url: &Url, nonce: &str) {
        let origin = url.origin().ascii_serialization();
        let mut state = self.state();
        if state.nonces.len() < 16 || state.nonces.contains_key(&origin) {
            state.nonces.insert(origin, nonce.to_owned());
        }
    }

    /// Notes that these scopes were asked for.
    pub(super) fn trying(&self, scopes: &Scopes) {
        let mut state = self.state();
        if state.tried.len() < MOST_TRIED && !state.tried.contains(scopes) {
            state.tried.push(scopes.clone());
        }
    }

    pub(super) fn has_tried(&self, scopes: &Scopes) -> bool {
        let state = self.state();
        let same = |tried: &Scopes| tried.contains_all(scopes) && scopes.contains_all(tried);
        state.tried.len() >= MOST_TRIED || state.tried.iter().any(same)
    }

    /// Notes that a call needed these scopes.
    pub(super) fn lacks(&self, scopes: &Scopes) {
        let mut state = self.state();
        state.lacking = state.lacking.union(scopes);
    }

    pub(super) fn lacks_nothing(&self) {
        self.state().lacking = Scopes::default();
    }

    pub(super) fn lacking(&self) -> Scopes {
        self.state().lacking.clone()
    }

    /// The failure of a sign-in that is too recent for another.
    pub(super) fn recent_failure(&self) -> Option<AuthError> {
        let state = self.state();
        let (at, error) = state.failure.as_ref()?;
        // Nobody wants a browser to open for every call, or all night long.
        let by_user = error.kind() == AuthErrorKind::User || error.is_refusal("access_denied");
        (by_user || at.elapsed() < HOLD_OFF).then(|| error.clone())
    }

    /// Remembers a failure that would repeat itself, or bother somebody.
    pub(super) fn failed(&self, error: &AuthError) {
        let repeats = matches!(
            error.kind(),
            AuthErrorKind::User | AuthErrorKind::Refused | AuthErrorKind::Rejected
        );
        if repeats {
            self.state().failure = Some((Instant::now(), error.clone()));
        }
    }

    pub(super) fn forgive(&self) {
        let mut state = self.state();
        state.failure = None;
        state.tried.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // It is whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Now, in seconds since 1970: what is kept must mean the same tomorrow.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
