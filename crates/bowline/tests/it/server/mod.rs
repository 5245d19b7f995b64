//! The server framework, through its public API.

mod basics;
mod replay;
mod seal;
mod store;
