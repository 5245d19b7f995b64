//! The HTTP client against a server that is scripted byte by byte.

mod calls;
mod opening;
mod rig;
mod sessions;
mod streams;
