//! Tokens in the system's keyring.

use std::{path::PathBuf, sync::Arc};

use keyring_core::{CredentialStore, Entry, Error};

use super::{
    TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock,
    locks::{LockDir, run_blocking},
};
use crate::{auth::Secret, transport::BoxFuture};

/// Stores tokens in a keyring, where the user's other programs cannot read them
/// as files.
///
/// The keyring is an implementation of the crate [`keyring_core`]: the
/// application brings the one for its system, such as the crates
/// `apple-native-keyring-store` and `dbus-secret-service-keyring-store`. A
/// keyring has no locks, so these are empty files in a folder, as with
/// [`FileStore`](super::FileStore).
///
/// ```
/// use bowline::auth::{KeyringStore, OAuth, keyring_core::mock};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let locks = std::env::temp_dir().join(format!("knot-shop-{}", std::process::id()));
/// // Instead of this, the keyring of the system.
/// let keyring = mock::Store::new()?;
/// let oauth = OAuth::new("Knot Shop").store(KeyringStore::open(keyring, "Knot Shop", &locks)?);
/// # drop(oauth);
/// # std::fs::remove_dir(&locks)?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct KeyringStore {
    keyring: Arc<CredentialStore>,
    service: Arc<str>,
    locks: LockDir,
}

impl KeyringStore {
    /// Opens a store in `keyring`, under the name of `service`, with locks in
    /// the folder `locks`, which is created if it does not exist. Processes
    /// that share the tokens must share both.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created, or is accessible to
    /// others.
    pub fn open(
        keyring: Arc<CredentialStore>,
        service: &str,
        locks: impl Into<PathBuf>,
    ) -> Result<Self, TokenStoreError> {
        Ok(Self {
            keyring,
            service: service.into(),
            locks: LockDir::open(locks.into())?,
        })
    }

    /// Runs a function on the entry of a key. Keyrings are separate processes,
    /// and may prompt the user first.
    async fn with_entry<T: Send + 'static>(
        &self,
        key: &TokenStoreKey,
        operation: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
    ) -> Result<Option<T>, TokenStoreError> {
        let (keyring, service) = (Arc::clone(&self.keyring), Arc::clone(&self.service));
        let name = key.as_str().to_owned();
        let operation = move || {
            let entry = keyring.build(&service, &name, None)?;
            match operation(&entry) {
                Err(Error::NoEntry) => Ok(None),
                result => result.map(Some),
            }
        };
        run_blocking(operation, store_error).await
    }
}

impl TokenStore for KeyringStore {
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>> {
        Box::pin(async move {
            let stored = self.with_entry(key, Entry::get_password).await?;
            Ok(stored.map(Secret::new))
        })
    }

    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        let value = value.clone();
        Box::pin(async move {
            let stored = self.with_entry(key, move |entry| entry.set_password(value.expose()));
            let stored = stored.await?;
            stored.ok_or_else(|| TokenStoreError::new("the keyring did not persist the entry"))
        })
    }

    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        Box::pin(async move {
            // Removing an absent entry is not an error.
            self.with_entry(key, Entry::delete_credential).await?;
            Ok(())
        })
    }

    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>> {
        Box::pin(self.locks.lock(key))
    }
}

impl std::fmt::Debug for KeyringStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A keyring's `Debug` may show its contents.
        f.debug_struct("KeyringStore")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// Describes a keyring failure without its contents.
fn store_error(error: Error) -> TokenStoreError {
    match error {
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            TokenStoreError::new("the keyring entry has an unexpected format")
        }
        Error::Ambiguous(_) => TokenStoreError::new("the keyring has more than one matching entry"),
        other => TokenStoreError::new(format!("keyring error: {other}")),
    }
}
