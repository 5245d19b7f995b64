//! The server framework, through its public API.

mod basics;
mod cost;
mod form;
mod seal;
mod store;
mod ui;
