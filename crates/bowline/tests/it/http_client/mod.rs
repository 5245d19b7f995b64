//! The HTTP client against a server that is scripted byte by byte.

mod calls;
mod connections;
mod hostile;
mod opening;
mod peers;
#[cfg(feature = "lock")]
mod pins;
mod proxy;
mod redirects;
pub(crate) mod rig;
mod sessions;
mod streams;
mod tools;
mod two_endpoints;
