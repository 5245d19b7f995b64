//! Sealing of state that is sent to clients and back.
//!
//! In revision 2026-07-28, a server sends the state of a conversation to the
//! client as an opaque string, and the client sends it back with the next
//! request. The client may be curious, broken or hostile. So the state is
//! *sealed*, that is, encrypted and authenticated: no one without the key can
//! read, alter or forge it, or use it for another purpose.
//!
//! A seal does not prevent replay: a client can send back an old state that is
//! validly sealed. Anything that must not happen twice is written to a
//! [`JournalStore`](super::store::JournalStore).
//!
//! ```
//! use bowline::server::seal::SealKeys;
//!
//! # fn secret(name: &str) -> Vec<u8> { name.repeat(8).into_bytes() }
//! // All nodes share the same secret. The previous one still opens state
//! // that was sealed before the change.
//! let keys = SealKeys::from_secret(&secret("SEAL_SECRET"))?
//!     .accept_secret(&secret("LAST_SEAL_SECRET"))?;
//! assert!(keys.is_shared());
//! # Ok::<(), bowline::server::seal::WeakSecretError>(())
//! ```

mod key;
mod seal_keys;
mod sealed;
#[cfg(test)]
mod tests;

pub(crate) use seal_keys::random_bytes;
pub use seal_keys::{SealKeys, WeakSecretError};
pub(crate) use sealed::UnsealError;
