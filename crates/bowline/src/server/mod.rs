//! The server framework: tools, resources and prompts.
//!
//! A [`Server`] holds the configuration: tools, resources, prompts and
//! settings. [`Server::build`] returns a [`Service`], which serves any number
//! of clients in every revision of the protocol.
//!
//! A [`Tool`] is a name, a schema and an async function. Through a
//! [`Conversation`], the function can ask the user (elicitation) or the
//! client's model (sampling) while it runs.

pub mod auth;
mod background;
mod builder;
mod builder_methods;
mod capability;
pub mod changes;
pub mod completion;
mod conversation;
mod dispatch;
mod error;
pub mod form;
#[cfg(feature = "http-server")]
pub mod http;
mod limits;
mod manifest;
pub mod prompt;
mod replay;
pub mod resource;
pub mod seal;
mod serve;
mod service;
mod state;
pub mod store;
mod task;
pub mod template;
pub mod tool;
#[cfg(feature = "tracing")]
mod tracing_events;

pub use builder::{BuildError, CacheTarget, Server};
pub use capability::ClientCapability;
pub use conversation::{
    Branch, Conversation, Elicitation, Elicited, HandlerContext, ModelPrompt, OnDecline,
    RequiredElicitation, RetryingElicitation, RootsRequest, Sample, SampleText, SampleToolCalls,
    SampleValue, Sampled, Step, StructuredSample, ToolCalls, UrlElicitation,
};
pub use dispatch::extension::NotificationContext;
pub use error::{Error, ErrorKind, Result};
pub use limits::CallLimits;
pub use manifest::{Manifest, ManifestEndpoint, ManifestServer};
pub use prompt::Prompt;
pub use resource::{Resource, ResourceSource};
pub use serve::Observation;
pub use service::Service;
pub use task::{TaskOptions, TaskPolicy};
pub use template::{ResourceTemplate, Variables};
#[cfg(feature = "macros")]
pub use tool::tool;
pub use tool::{IntoToolResult, Json, NoArguments, Tool};
