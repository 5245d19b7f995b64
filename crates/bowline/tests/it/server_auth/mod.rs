//! Servers that ask for tokens: what they take, what they refuse, and what
//! they say. All by calling the service, in paused time.

mod axum_router;
mod binding;
mod dpop;
mod expiry;
mod introspection;
mod key_files;
mod keys;
mod metadata;
mod moving;
mod presenting;
mod rig;
mod scopes;
mod secrecy;
mod shared_stores;
#[cfg(feature = "http-client")]
mod sockets;
mod tokens;
