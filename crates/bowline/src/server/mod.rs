//! Serving tools, resources and prompts.
//!
//! A [`Server`] gathers what is served; [`Server::build`] makes a [`Service`]
//! of it, which serves any number of clients in every revision of the protocol.
//! A [`Tool`] is a name, a schema and an async function; the function may ask
//! the user and models through a [`Conversation`].

mod build;
mod catalog;
mod converse;
mod error;
pub mod form;
mod limits;
mod list;
mod manifest;
mod needs;
mod replay;
mod request;
pub mod seal;
mod serve;
mod service;
pub mod store;
mod talk;
pub mod tool;
mod tools;

pub use build::{BuildError, Server};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use manifest::{Manifest, ManifestEndpoint, ManifestServer};
pub use needs::Need;
pub use service::Service;
pub use talk::{
    Branch, Conversation, Elicitation, Elicited, ForCalls, ForText, ForValue, ModelPrompt,
    OnDecline, Retrying, RootsQuestion, Sample, Sampled, ServerContext, Strict, Structured,
    ToolCalls, Visit,
};
#[cfg(feature = "macros")]
pub use tool::tool;
pub use tool::{Json, NoArguments, Output, Tool};
