//! The server framework, through its public API.

mod basics;
mod cost;
mod form;
mod manifest;
mod branch;
mod sample;
mod seal;
mod store;
mod test_client;
mod ui;
