//! Serving over HTTP: most of it by calling the service, in paused time; what
//! concerns sockets over sockets.

mod admission;
mod axum_router;
mod batches;
mod browsers;
#[cfg(feature = "cluster")]
mod cluster;
mod conversations;
mod disconnects;
mod hostile;
mod idle;
mod listening;
mod mirrored;
mod moved;
mod quota_charges;
mod quotas;
mod raw;
mod resuming;
mod rig;
mod sessions;
mod slow_stores;
mod sockets;
mod stateless;
mod stopping;
pub(crate) mod stores;
mod tools;
