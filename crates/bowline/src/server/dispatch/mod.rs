//! From a request to its response: which method is called, which tool, prompt
//! or resource it names, and how its handler is run.

pub(crate) mod catalog;
pub(crate) mod completions;
pub(crate) mod conversation_runner;
pub(crate) mod extension;
pub(crate) mod list;
mod name_index;
pub(crate) mod prompts;
pub(crate) mod request;
pub(crate) mod resources;
pub(crate) mod round_outcome;
pub(crate) mod router;
pub(crate) mod subscriptions;
pub(crate) mod tool_call;
pub(crate) mod tools;
