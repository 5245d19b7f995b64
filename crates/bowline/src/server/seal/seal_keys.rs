//! The keys of a server: one that seals, others that still open.

use std::{fmt, sync::Arc};

use super::key::Key;

/// The least that a secret must have.
const SECRET_LEN: usize = 32;

/// The keys that seal what travels through clients. The first one seals; all
/// of them open.
///
/// Clones share the keys. `Debug` shows the names of the keys, which anybody
/// can see in what they sealed, and never the keys.
///
/// To change the secret of a fleet without refusing anyone, give every node
/// the new one as an [accepted](Self::accept) secret first. When all nodes know
/// it, make it the one that seals and accept the old one. When the last text
/// that the old one sealed has expired, drop that.
#[derive(Clone)]
pub struct SealKeys {
    keys: Arc<[Key]>,
    shared: bool,
}

impl SealKeys {
    /// A key of this process alone. No other node, and no later run, can open
    /// what it seals, so this is for a server that is a single process. A
    /// restart ends the conversations that are under way.
    ///
    /// # Panics
    ///
    /// If the system has no randomness. A key that can be guessed is worse
    /// than a server that does not start.
    #[must_use]
    pub fn random() -> Self {
        let secret: [u8; SECRET_LEN] = random_bytes();
        Self {
            keys: [Key::derive(&secret)].into(),
            shared: false,
        }
    }

    /// A key that every node with this secret has.
    ///
    /// The secret is meant to be random bytes, as `openssl rand -hex 32` makes
    /// them. A password will not do, however long it is: the name of the key is
    /// made from the secret, and clients see it and can try guesses on it.
    ///
    /// # Errors
    ///
    /// If the secret has fewer than 32 bytes.
    pub fn from_secret(secret: &[u8]) -> Result<Self, WeakSecretError> {
        Ok(Self {
            keys: [derive(secret)?].into(),
            shared: true,
        })
    }

    /// Adds another secret that opens, but does not seal: an older one, or one
    /// that other nodes already seal with.
    ///
    /// # Errors
    ///
    /// If the secret has fewer than 32 bytes.
    pub fn accept_secret(self, secret: &[u8]) -> Result<Self, WeakSecretError> {
        let key = derive(secret)?;
        if self.key_by_id(&key.id).is_some() {
            return Ok(self);
        }
        let keys = self.keys.iter().cloned().chain([key]).collect();
        Ok(Self { keys, ..self })
    }

    /// Whether other nodes, and later runs, can open what is sealed here.
    /// `false` for [`random`](Self::random), whatever it accepts.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The key that seals.
    pub(super) fn sealing_key(&self) -> &Key {
        &self.keys[0]
    }

    /// The key of this name.
    pub(super) fn key_by_id(&self, id: &[u8]) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == *id)
    }
}

impl fmt::Debug for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealKeys")
            .field("keys", &self.keys)
            .field("shared", &self.shared)
            .finish()
    }
}

/// A secret that is too short to keep anything secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakSecretError {
    len: usize,
}

impl fmt::Display for WeakSecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.len;
        write!(f, "a secret needs {SECRET_LEN} bytes or more, not {len}")
    }
}

impl std::error::Error for WeakSecretError {}

/// Bytes from the system that nobody can guess.
///
/// # Panics
///
/// If there are none. No system that runs servers lacks them once it is up,
/// and without them there is no safe way to go on.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

fn derive(secret: &[u8]) -> Result<Key, WeakSecretError> {
    match secret.len() {
        len if len < SECRET_LEN => Err(WeakSecretError { len }),
        _ => Ok(Key::derive(secret)),
    }
}
