//! The server framework, through its public API.

mod basics;
mod branch;
mod builder;
mod changes;
mod completions;
mod cost;
mod form;
mod form_check;
mod lists;
mod manifest;
mod prompts;
mod replay;
mod resource_subscriptions;
mod resources;
mod sample;
mod seal;
mod serving;
mod store;
mod tasks;
mod test_client;
mod tool_macro;
mod travel;
mod ui;
