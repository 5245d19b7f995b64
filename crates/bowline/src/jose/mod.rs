//! Signed tokens: keys, key sets and compact signatures, on `ring`.
//!
//! [`SigningKey`] is a key of one's own, [`PublicKey`] and [`KeySet`] are those
//! of others. What is done with them is the business of whoever is given them.
//!
//! - `algorithm` names the ways to sign that exist here. Those that do not,
//!   `none` and everything with a shared secret, cannot be written down.
//! - `public_key` and `key_set` are keys of others; `signing_key` is one's own.
//! - `compact` is a token that somebody brought; `base64url` how it is written.
//! - `pem` reads key files.
//!
//! A key has one algorithm, and that decides. What a token says about itself
//! must agree with it, and decides nothing.

mod algorithm;
mod base64url;
#[cfg(feature = "http-server")]
mod compact;
mod error;
#[cfg(all(feature = "http-server", any(test, feature = "testing")))]
mod fuzz;
mod key_set;
mod pem;
mod public_key;
mod signing_key;
#[cfg(all(test, feature = "http-server"))]
mod tests;

pub use algorithm::Algorithm;
#[cfg(feature = "http-server")]
pub(crate) use compact::CompactJws;
pub use error::JoseError;
#[cfg(all(feature = "http-server", any(test, feature = "testing")))]
#[doc(hidden)]
pub use fuzz::read_anything as __read_anything;
pub use key_set::KeySet;
pub use public_key::PublicKey;
pub use signing_key::SigningKey;

/// The SHA-256 of something, as base64url: what thumbprints, `ath` and PKCE
/// challenges are.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    base64url::encode(digest.as_ref())
}
