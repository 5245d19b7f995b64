//! The server framework, through its public API.

mod basics;
mod seal;
mod store;
