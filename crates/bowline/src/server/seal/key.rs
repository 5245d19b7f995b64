//! One key, and the name by which nodes recognise it.

use std::fmt;

use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sha2::{Digest, Sha256};

/// The bytes of a key's name.
pub(super) const ID_LEN: usize = 8;

// Neither label begins with the other, because each has its only zero at its
// end. So no secret can be found whose name gives away the key of another.
const KEY_LABEL: &[u8] = b"bowline seal 1 key\0";
const ID_LABEL: &[u8] = b"bowline seal 1 id\0";

/// A key, ready to use.
#[derive(Clone)]
pub(super) struct Key {
    /// Travels in the clear, in front of what the key sealed.
    pub(super) id: [u8; ID_LEN],
    pub(super) cipher: XChaCha20Poly1305,
}

impl Key {
    /// Equal secrets make equal keys with equal names, on every node.
    pub(super) fn derive(secret: &[u8]) -> Self {
        let name = digest(ID_LABEL, secret);
        let mut id = [0; ID_LEN];
        id.copy_from_slice(&name[..ID_LEN]);
        let cipher = XChaCha20Poly1305::new(&digest(KEY_LABEL, secret).into());
        Self { id, cipher }
    }
}

/// Shows the name only.
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
