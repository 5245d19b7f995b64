//! Where tokens stay between calls, and between runs.

#[cfg(unix)]
mod file;
#[cfg(all(unix, feature = "keyring"))]
mod keyring;
#[cfg(unix)]
mod locks;
mod memory;

use std::fmt;

use super::Secret;
use crate::{jose, transport::BoxFuture};

#[cfg(unix)]
pub use file::FileStore;
#[cfg(all(unix, feature = "keyring"))]
pub use keyring::KeyringStore;
pub use memory::MemoryStore;

/// Keeps tokens and registrations.
///
/// What is kept is text that only this crate reads; all of it is secret.
///
/// Refresh tokens are good for one use. Two who use the same one lose both, as
/// far as careful servers are concerned. So whoever refreshes holds the lock of
/// the key, reads again what is there, and saves before letting go. A store
/// that several processes share must keep that promise among them.
pub trait TokenStore: Send + Sync + 'static {
    /// What is kept under a key.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>>;

    /// Keeps something, whole or not at all. When this returns, it must survive.
    ///
    /// # Errors
    ///
    /// Where it cannot be kept.
    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Forgets what is kept under a key.
    ///
    /// # Errors
    ///
    /// Where it cannot be forgotten.
    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Waits until nobody else holds the lock of the key, and holds it until
    /// the guard is dropped. One who dies holding it must not hold up others.
    ///
    /// # Errors
    ///
    /// Where that takes too long, or cannot be done.
    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>>;
}

/// Holds a lock until it is dropped.
pub struct TokenStoreLock(#[expect(dead_code, reason = "it is held, and let go")] Box<dyn Send>);

impl TokenStoreLock {
    /// Holds whatever holds the lock.
    #[must_use]
    pub fn new(guard: impl Send + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for TokenStoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLock")
    }
}

/// What something is kept under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenStoreKey {
    kind: &'static str,
    name: String,
}

impl TokenStoreKey {
    /// Tokens of a client, from an issuer, for a resource.
    pub(super) fn tokens(issuer: &str, resource: &str, client_id: &str) -> Self {
        Self::new("tokens", &[issuer, resource, client_id])
    }

    /// The registration of an application at an issuer.
    pub(super) fn registration(issuer: &str, application: &str) -> Self {
        Self::new("client", &[issuer, application])
    }

    /// What was found out about a server.
    pub(super) fn server(url: &str, application: &str) -> Self {
        Self::new("server", &[url, application])
    }

    fn new(kind: &'static str, parts: &[&str]) -> Self {
        // With their lengths, so that no two lists of parts read the same.
        let joined: String = parts
            .iter()
            .map(|part| format!("{}:{part},", part.len()))
            .collect();
        Self {
            kind,
            name: format!("{kind}-{}", jose::digest(joined.as_bytes())),
        }
    }

    /// What kind of thing is kept: `tokens`, `client` or `server`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// A name that no other key has: letters, digits, `-` and `_`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Why something could not be kept, read or locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenStoreError(String);

impl TokenStoreError {
    /// For this reason, which holds no secrets.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for TokenStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store of tokens failed: {}", self.0)
    }
}

impl std::error::Error for TokenStoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_in_every_part() {
        let key = TokenStoreKey::tokens("a", "b", "c");
        assert_eq!(key, TokenStoreKey::tokens("a", "b", "c"));
        for other in [
            TokenStoreKey::tokens("a", "b", "d"),
            TokenStoreKey::tokens("ab", "", "c"),
            TokenStoreKey::tokens("", "ab", "c"),
            TokenStoreKey::registration("a", "b"),
            TokenStoreKey::server("a", "b"),
        ] {
            assert_ne!(key.as_str(), other.as_str());
        }
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        assert!(key.as_str().chars().all(is_allowed));
    }
}
