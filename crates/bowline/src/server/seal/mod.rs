//! Sealing what travels through clients.
//!
//! A server that keeps no state hands its state to the client, as an opaque
//! text, and gets it back with the next request. The client may be curious,
//! broken or hostile. So the state is sealed: nobody without the key can read
//! it, alter it, make one up, or use one where another belongs.
//!
//! A seal does not make anything happen only once: a client can bring back an
//! old text that is sealed well. What must not happen twice is written to a
//! [`JournalStore`](super::store::JournalStore).
//!
//! ```
//! use bowline::server::seal::SealKeys;
//!
//! # fn secret(name: &str) -> Vec<u8> { name.repeat(8).into_bytes() }
//! // All nodes of a fleet have the same secret. The one of last month still
//! // opens what was sealed before the change.
//! let keys = SealKeys::from_secret(&secret("SEAL_SECRET"))?
//!     .accept(&secret("LAST_SEAL_SECRET"))?;
//! assert!(keys.is_shared());
//! # Ok::<(), bowline::server::seal::WeakSecret>(())
//! ```

mod key;
mod seal_keys;
mod sealed;
#[cfg(test)]
mod tests;

pub(crate) use seal_keys::random_bytes;
pub use seal_keys::{SealKeys, WeakSecretError};
pub(crate) use sealed::UnsealError;
