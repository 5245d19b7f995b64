//! The server framework, through its public API.

mod basics;
mod branch;
mod builder;
mod cost;
mod form;
mod manifest;
mod sample;
mod completions;
mod lists;
mod prompts;
mod resources;
mod seal;
mod serving;
mod store;
mod test_client;
mod tool_macro;
mod ui;
