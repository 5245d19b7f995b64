//! JOSE: keys, key sets and compact signed tokens, on top of `ring`.
//!
//! [`SigningKey`] is a private key; [`PublicKey`] and [`KeySet`] verify
//! signatures of others. How they are used is up to the caller.
//!
//! - `algorithm` lists the supported algorithms. Others, such as `none` and
//!   everything with a shared secret, cannot be represented.
//! - `public_key` and `key_set` are keys of others; `signing_key` is our own.
//! - `compact` is a received token; `base64url` its encoding.
//! - `pem` reads key files.
//!
//! A key has one algorithm, which is the one that is used. The `alg` of a token
//! must match it and decides nothing.

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

/// Returns the SHA-256 of `bytes` as base64url, as used for thumbprints, `ath`
/// and PKCE challenges.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    base64url::encode(digest.as_ref())
}
