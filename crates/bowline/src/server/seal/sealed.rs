//! What a sealed text looks like, making one and opening one.
//!
//! ```text
//! version, 1 byte | name of the key, 8 | nonce, 24 | ciphertext | tag, 16
//! ```
//!
//! What travels is all of it in base64 with the URL alphabet, without padding. There is one
//! way to write any bytes, so that a text is either what was made here, to the
//! last bit, or refused. What stands before the ciphertext is authenticated
//! together with the purpose.
//!
//! The nonce is random. At 24 bytes, nodes that share a key and know nothing
//! of each other will not draw the same one twice.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
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
    /// A purpose made of several parts must not be readable as other parts:
    /// give each its length, or take a digest.
    ///
    /// # Panics
    ///
    /// If the system has no randomness. A nonce used twice would give away
    /// what both texts say.
    pub(crate) fn seal(&self, purpose: &[u8], plain: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.seal_bytes(purpose, plain))
    }

    /// Opens what was sealed for this purpose, with any key of the ring.
    pub(crate) fn open(&self, purpose: &[u8], sealed: &str) -> Result<Vec<u8>, UnsealError> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed);
        let sealed = sealed.map_err(|_| UnsealError::Invalid)?;
        self.open_bytes(purpose, &sealed)
    }

    /// As [`seal`](Self::seal), for what does not travel as text.
    ///
    /// # Panics
    ///
    /// As there.
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

    /// As [`open`](Self::open), for what did not travel as text.
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

/// Why a text was not opened. It does not say what was wrong with one that was
/// altered, so that nobody learns from trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsealError {
    /// No key of this ring sealed it, or so it says: it comes from another
    /// node, from an earlier run, or is made up.
    UnknownKey,
    /// It is malformed, altered, or sealed for another purpose.
    Invalid,
}

impl fmt::Display for UnsealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownKey => "it was sealed with a key that is not known here",
            Self::Invalid => "it is not what was sealed here for this purpose",
        })
    }
}

impl std::error::Error for UnsealError {}

/// What the tag vouches for beside the ciphertext. The header's length is
/// fixed, so that no purpose can pass for a part of it.
fn associated_data(header: &[u8], purpose: &[u8]) -> Vec<u8> {
    [header, purpose].concat()
}
