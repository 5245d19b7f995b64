//! The message types of all revisions, as one superset.
//!
//! A struct has the members that any revision gives it, and keeps unknown ones
//! in `extra`. What a revision cannot carry is removed when a message is sent,
//! by [`Adapt`] with that revision's [`WireFeatures`]; so nothing here depends on
//! the revision.
//!
//! Params implement [`Request`] or [`Notification`], results [`ResultObject`].
//! Structs are `#[non_exhaustive]` with public fields: create one with `new`
//! (from the required members) or `default`, then set the rest.
//!
//! ```
//! use bowline_proto::model::{CallToolParams, Request};
//!
//! let mut params = CallToolParams::new("echo");
//! params.arguments = Some(serde_json::from_str(r#"{"say":"hello"}"#).unwrap());
//! assert_eq!(CallToolParams::METHOD, "tools/call");
//! assert_eq!(
//!     serde_json::to_string(&params).unwrap(),
//!     r#"{"name":"echo","arguments":{"say":"hello"}}"#,
//! );
//! ```

mod capability;
mod common;
mod completion;
mod content;
mod core_task;
mod discover;
mod elicit_schema;
mod elicitation;
mod error_data;
mod fast_result;
mod input;
mod lifecycle;
mod list;
mod logging;
mod members;
mod message;
pub mod meta;
pub mod method;
mod number;
mod object;
mod open_enum;
mod progress;
mod prompt;
mod resource;
mod roots;
mod sampling;
mod subscription;
mod tagged;
pub mod task;
mod tool;
mod typed_result;
mod wire_features;

pub use crate::jsonrpc::{DecodeError, decode, decode_params};
pub use capability::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, PromptsCapability, ResourcesCapability, RootsCapability, SamplingCapability,
    SamplingTasks, ServerCapabilities, ServerTaskRequests, ServerTasksCapability, ToolTasks,
    ToolsCapability,
};
pub use common::{Annotations, EmptyResult, Icon, IconTheme, Implementation, Role};
pub use completion::{
    CompleteArgument, CompleteContext, CompleteParams, CompleteResult, Completion, PromptReference,
    Reference, ResourceReference,
};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};
pub use core_task::{
    CancelCoreTaskParams, CancelCoreTaskResult, CoreTask, CoreTaskPayload, CoreTaskResultParams,
    CoreTaskStatusParams, CreateCoreTaskResult, GetCoreTaskParams, GetCoreTaskResult,
    ListCoreTasksParams, ListCoreTasksResult, RelatedTask, TaskMetadata, TaskStatus,
};

pub use discover::{DiscoverParams, DiscoverResult};
pub use elicit_schema::{
    BooleanSchema, ChoiceItems, ChoiceOption, ChoiceSchema, ElicitSchema, MultiChoiceSchema,
    NumberKind, NumberSchema, PropertySchema, StringFormat, StringSchema,
};
pub use elicitation::{
    ElicitAction, ElicitMode, ElicitParams, ElicitResult, ElicitationCompleteParams,
};
pub use error_data::{
    MissingCapabilityData, ResourceNotFoundData, UnsupportedVersionData, UrlElicitationRequiredData,
};
pub use input::{InputKind, InputRequest, InputRequests, InputRequiredResult, InputResponses};
pub use lifecycle::{InitializeParams, InitializeResult, InitializedParams, PingParams};
pub use list::RejectedItem;
pub(crate) use list::check_count;
pub use logging::{LogLevel, LoggingMessageParams, SetLevelParams};
pub use members::{Extra, Members};
pub use message::{CacheScope, Notification, Request, ResultObject, ResultType};
pub use meta::Meta;
pub use method::{MethodInfo, RequestClass, Side};
pub use number::Number;
pub use progress::{CancelledParams, ProgressParams, ProgressToken};
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsParams, ListPromptsResult, Prompt, PromptArgument,
    PromptListChangedParams, PromptMessage,
};
pub use resource::{
    ListResourceTemplatesParams, ListResourceTemplatesResult, ListResourcesParams,
    ListResourcesResult, ReadResourceParams, ReadResourceResult, Resource, ResourceContents,
    ResourceListChangedParams, ResourceTemplate, ResourceUpdatedParams, SubscribeParams,
    UnsubscribeParams,
};
pub use roots::{ListRootsParams, ListRootsResult, Root, RootsListChangedParams};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingBlock, SamplingContent, SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
    ToolResultContent, ToolUseContent,
};
pub use subscription::{
    SubscriptionFilter, SubscriptionsAcknowledgedParams, SubscriptionsListenParams,
    SubscriptionsListenResult,
};
pub use tagged::UnknownKind;
pub use task::{
    CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult, TaskChangedParams,
    UpdateTaskParams,
};
pub use tool::{
    CallToolParams, CallToolResult, ListToolsParams, ListToolsResult, TaskSupport, Tool,
    ToolAnnotations, ToolExecution, ToolFailure, ToolListChangedParams, ToolMode,
};
pub use typed_result::TypedResult;
pub use wire_features::{Adapt, ElicitationFeatures, StructuredContent, WireFeatures};
