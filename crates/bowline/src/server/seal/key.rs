//! Seal keys and their ids.

use std::fmt;

use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sha2::{Digest, Sha256};

/// The length of a key id in bytes.
pub(super) const ID_LEN: usize = 8;

// Neither label is a prefix of the other, because each has its only zero byte
// at its end. So no secret has an id that reveals another's key.
const KEY_LABEL: &[u8] = b"bowline seal 1 key\0";
const ID_LABEL: &[u8] = b"bowline seal 1 id\0";

/// A derived key.
#[derive(Clone)]
pub(super) struct Key {
    /// Sent in the clear, in front of the ciphertext.
    pub(super) id: [u8; ID_LEN],
    pub(super) cipher: XChaCha20Poly1305,
}

impl Key {
    /// Derives a key. Equal secrets give equal keys and ids on every node.
    pub(super) fn derive(secret: &[u8]) -> Self {
        let name = digest(ID_LABEL, secret);
        let mut id = [0; ID_LEN];
        id.copy_from_slice(&name[..ID_LEN]);
        let cipher = XChaCha20Poly1305::new(&digest(KEY_LABEL, secret).into());
        Self { id, cipher }
    }
}

/// Shows the id only.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.id))
    }
}

fn digest(label: &[u8], secret: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(label)
        .chain_update(secret)
        .finalize()
        .into()
}
