//! The sealed format, sealing and opening.
//!
//! ```text
//! version, 1 byte | key id, 8 | nonce, 24 | ciphertext | tag, 16
//! ```
//!
//! It is encoded as base64 with the URL alphabet, without padding. Each byte
//! sequence has exactly one encoding, so a string is either exactly what was
//! sealed here, or rejected. The header before the ciphertext is authenticated
//! together with the purpose.
//!
//! The nonce is random. At 24 bytes, nodes that share a key will not generate
//! the same one twice.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use chacha20poly1305::{
    XNonce,
    aead::{Aead, Payload},
};

use super::{SealKeys, key::ID_LEN, seal_keys::random_bytes};

const VERSION: u8 = 1;
const NONCE_LEN: usize = 24;
const NONCE_AT: usize = 1 + ID_LEN;
const HEADER_LEN: usize = NONCE_AT + NONCE_LEN;

impl SealKeys {
    /// Seals bytes for one purpose. They open for the same purpose only.
    ///
    /// A purpose made of several parts must be unambiguous: prefix each part
    /// with its length, or use a digest.
    ///
    /// # Panics
    ///
    /// Panics if the system has no randomness. A nonce used twice would reveal
    /// both plaintexts.
    pub(crate) fn seal(&self, purpose: &[u8], plain: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.seal_bytes(purpose, plain))
    }

    /// Opens a string sealed for this purpose, with any of the keys.
    pub(crate) fn open(&self, purpose: &[u8], sealed: &str) -> Result<Vec<u8>, UnsealError> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed);
        let sealed = sealed.map_err(|_| UnsealError::Invalid)?;
        self.open_bytes(purpose, &sealed)
    }

    /// Like [`seal`](Self::seal), for bytes.
    ///
    /// # Panics
    ///
    /// Panics if the system has no randomness.
    pub(crate) fn seal_bytes(&self, purpose: &[u8], plain: &[u8]) -> Vec<u8> {
        let key = self.sealing_key();
        let nonce: [u8; NONCE_LEN] = random_bytes();
        let mut sealed = Vec::with_capacity(HEADER_LEN + plain.len() + 16);
        sealed.push(VERSION);
        sealed.extend_from_slice(&key.id);
        sealed.extend_from_slice(&nonce);
        let aad = &associated_data(&sealed, purpose);
        let ciphertext = key
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad })
            .expect("it fits in memory, and the cipher takes 256 GiB");
        sealed.extend_from_slice(&ciphertext);
        sealed
    }

    /// Like [`open`](Self::open), for bytes.
    pub(crate) fn open_bytes(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, UnsealError> {
        let (header, msg) = sealed
            .split_at_checked(HEADER_LEN)
            .ok_or(UnsealError::Invalid)?;
        let (version_and_id, nonce) = header.split_at(NONCE_AT);
        let (version, id) = version_and_id.split_at(1);
        if version != [VERSION] {
            return Err(UnsealError::Invalid);
        }
        let key = self.key_by_id(id).ok_or(UnsealError::UnknownKey)?;
        let nonce = XNonce::try_from(nonce).map_err(|_| UnsealError::Invalid)?;
        let aad = &associated_data(header, purpose);
        let opened = key.cipher.decrypt(&nonce, Payload { msg, aad });
        opened.map_err(|_| UnsealError::Invalid)
    }
}

/// For what other nodes are to open, and would otherwise be stored or sent as it is.
impl SealKeys {
    /// Seals bytes if the keys come from a secret. Without one, no other node could open
    /// them, and they are returned as they are.
    pub(crate) fn seal_if_shared(&self, purpose: &[u8], plain: Bytes) -> Bytes {
        match self.is_shared() {
            true => self.seal_bytes(purpose, &plain).into(),
            false => plain,
        }
    }

    /// Opens what [`seal_if_shared`](Self::seal_if_shared) returned.
    pub(crate) fn open_if_shared(&self, purpose: &[u8], value: &Bytes) -> Option<Bytes> {
        match self.is_shared() {
            true => self.open_bytes(purpose, value).ok().map(Bytes::from),
            false => Some(value.clone()),
        }
    }
}

/// The reason a sealed value was not opened. It does not tell how it was
/// altered, so attackers learn nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsealError {
    /// None of the keys sealed it, according to its key id: it comes from
    /// another node, from an earlier process, or is forged.
    UnknownKey,
    /// It is malformed, altered, or sealed for another purpose.
    Invalid,
}

impl fmt::Display for UnsealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKey => "it was sealed with an unknown key",
            Self::Invalid => "it is malformed, altered or sealed for another purpose",
        })
    }
}

impl std::error::Error for UnsealError {}

/// The data authenticated in addition to the ciphertext. The header's length is
/// fixed, so no purpose can pass for a part of it.
fn associated_data(header: &[u8], purpose: &[u8]) -> Vec<u8> {
    [header, purpose].concat()
}
