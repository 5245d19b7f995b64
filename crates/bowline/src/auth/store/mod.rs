//! Token stores, which keep tokens between calls and between runs.

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

/// Stores tokens and registrations.
///
/// The values are strings that only this crate reads; all of them are secret.
///
/// Refresh tokens are valid once. If two processes use the same one, strict
/// servers revoke both. So a refresh holds the lock of the key, reads the value
/// again, and saves before it releases the lock. A store that several processes
/// share must provide this lock among them.
pub trait TokenStore: Send + Sync + 'static {
    /// Loads the value of a key.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>>;

    /// Saves a value atomically. When this returns, it must be durable.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be saved.
    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Removes the value of a key.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be removed.
    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>>;

    /// Waits for the lock of the key and holds it until the guard is dropped.
    /// The lock of a process that dies must be released.
    ///
    /// # Errors
    ///
    /// Returns an error if that takes too long or is not possible.
    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>>;
}

/// Holds a lock until it is dropped.
pub struct TokenStoreLock(#[expect(dead_code, reason = "held until dropped")] Box<dyn Send>);

impl TokenStoreLock {
    /// Wraps a guard that releases the lock when dropped.
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

/// The key of a stored value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenStoreKey {
    kind: &'static str,
    name: String,
}

impl TokenStoreKey {
    /// The key of a client's tokens from an issuer for a resource.
    pub(crate) fn tokens(issuer: &str, resource: &str, client_id: &str) -> Self {
        Self::new("tokens", &[issuer, resource, client_id])
    }

    /// The key of an application's registration at an issuer.
    pub(super) fn registration(issuer: &str, application: &str) -> Self {
        Self::new("client", &[issuer, application])
    }

    /// The key of the record about a server.
    pub(super) fn server(url: &str, application: &str) -> Self {
        Self::new("server", &[url, application])
    }

    fn new(kind: &'static str, parts: &[&str]) -> Self {
        // Include the lengths, so no two lists of parts collide.
        let joined: String = parts
            .iter()
            .map(|part| format!("{}:{part},", part.len()))
            .collect();
        Self {
            kind,
            name: format!("{kind}-{}", jose::digest(joined.as_bytes())),
        }
    }

    /// Returns the kind of the value: `tokens`, `client` or `server`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns a unique name: letters, digits, `-` and `_`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Why a value could not be saved, loaded or locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenStoreError(String);

impl TokenStoreError {
    /// Creates an error with this reason, which must not contain secrets.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for TokenStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the token store failed: {}", self.0)
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
