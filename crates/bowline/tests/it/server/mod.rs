//! The server framework, through its public API.

mod basics;
mod cost;
mod seal;
mod store;
