//! Serving tools, resources and prompts.
//!
//! A [`Server`] gathers what is served; [`Server::build`] makes a [`Service`]
//! of it, which serves any number of clients in every revision of the protocol.
//! A [`Tool`] is a name, a schema and an async function; the function may ask
//! the user and models through a [`Conversation`].

pub mod auth;
mod background;
mod build;
mod catalog;
pub mod completion;
mod completions;
mod converse;
mod error;
mod faults;
pub mod form;
#[cfg(feature = "http-server")]
pub mod http;
mod limits;
mod list;
mod manifest;
mod names;
mod needs;
pub mod prompt;
mod prompts;
mod replay;
mod request;
pub mod resource;
mod resources;
mod route;
pub(crate) mod schema;
pub mod seal;
mod serve;
mod service;
mod state;
pub mod store;
mod subscriptions;
mod talk;
pub mod template;
pub mod tool;
mod tools;
#[cfg(feature = "tracing")]
mod trace;

pub use build::{BuildError, Cached, Server};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use manifest::{Manifest, ManifestEndpoint, ManifestServer};
pub use needs::Need;
pub use prompt::Prompt;
pub use resource::{Resource, ResourceSource};
pub use serve::{Observation, extension::Notice};
pub use service::Service;
pub use talk::{
    Branch, Conversation, Elicitation, Elicited, ForCalls, ForText, ForValue, ModelPrompt,
    OnDecline, Retrying, RootsQuestion, Sample, Sampled, ServerContext, Step, Strict, Structured,
    ToolCalls, Visit,
};
pub use template::{ResourceTemplate, Variables};
#[cfg(feature = "macros")]
pub use tool::tool;
pub use tool::{Json, NoArguments, Output, Tool};
