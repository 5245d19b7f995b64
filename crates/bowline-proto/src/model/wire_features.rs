//! Wire features: what the wire format of a revision can carry.

use crate::jsonrpc::{ErrorObject, RawJson, RequestId};

/// The wire features of one revision.
///
/// The model contains everything that any revision can express. This
/// describes what one of them can; [`Adapt`] removes the rest from a message
/// before it is sent. The values are in [`revision`](crate::revision).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireFeatures {
    /// Display titles beside names.
    pub titles: bool,
    /// Icons on tools, resources, prompts and implementations.
    pub icons: bool,
    /// `description` and `websiteUrl` of an implementation.
    pub implementation_details: bool,
    /// `_meta` on tools, resources, prompts, roots and content.
    pub meta_on_types: bool,
    /// `_meta` that names the sender of a message and its subscription.
    pub sender_in_meta: bool,
    /// `lastModified` among annotations.
    pub last_modified: bool,
    /// Hints about a tool's behaviour.
    pub tool_annotations: bool,
    /// Output schemas of tools.
    pub output_schema: bool,
    /// Structured content of tool results.
    pub structured_content: StructuredContent,
    /// Audio content.
    pub audio: bool,
    /// Links to resources as content.
    pub resource_links: bool,
    /// A message in progress notifications.
    pub progress_message: bool,
    /// Earlier arguments in completion requests.
    pub completion_context: bool,
    /// A separate capability for completion.
    pub completions_capability: bool,
    /// The supported kinds of elicitation.
    pub elicitation: ElicitationFeatures,
    /// Tools in sampling: the list of tools, their content, several blocks in a
    /// message, and `_meta` on a message.
    pub sampling_tools: bool,
    /// Tasks as part of the core protocol.
    pub core_tasks: bool,
    /// Notifications of changed roots.
    pub roots_list_changed: bool,
    /// Extensions among the capabilities.
    pub extensions: bool,
    /// `resultType` on every result a server sends.
    pub result_type: bool,
    /// `ttlMs` and `cacheScope` on cacheable results.
    pub cache_hints: bool,
    /// Results that ask for input, and requests that carry it.
    pub input_rounds: bool,
}

/// The structured content that a tool may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredContent {
    /// Nothing.
    None,
    /// An object.
    Object,
    /// Any JSON value, `null` included.
    Any,
}

/// The supported kinds of elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationFeatures {
    /// Forms. Without this there is no elicitation at all.
    pub form: bool,
    /// Pages to visit; with it, the mode is on the wire.
    pub url: bool,
    /// An id for each page visit, with which its end is announced.
    pub url_id: bool,
    /// Multiple choice.
    pub multi_select: bool,
    /// Choices with titles next to their values, not in `enumNames`.
    pub titled_enums: bool,
    /// Defaults on fields other than booleans.
    pub defaults: bool,
}

impl WireFeatures {
    /// No features; each revision adds its own.
    pub(crate) const MINIMAL: Self = Self {
        titles: false,
        icons: false,
        implementation_details: false,
        meta_on_types: false,
        sender_in_meta: false,
        last_modified: false,
        tool_annotations: false,
        output_schema: false,
        structured_content: StructuredContent::None,
        audio: false,
        resource_links: false,
        progress_message: false,
        completion_context: false,
        completions_capability: false,
        elicitation: ElicitationFeatures {
            form: false,
            url: false,
            url_id: false,
            multi_select: false,
            titled_enums: false,
            defaults: false,
        },
        sampling_tools: false,
        core_tasks: false,
        roots_list_changed: false,
        extensions: false,
        result_type: false,
        cache_hints: false,
        input_rounds: false,
    };
}

/// Adapts a value to a wire format before it is encoded.
///
/// Members that the wire format lacks are removed; members that it requires are
/// added with safe values. Content of a kind it lacks becomes text that names
/// what was omitted. Unknown members stay.
pub trait Adapt {
    /// Adapts the value to the wire format.
    fn adapt(&mut self, features: &WireFeatures);
}

impl<T: Adapt> Adapt for Option<T> {
    fn adapt(&mut self, features: &WireFeatures) {
        if let Some(value) = self {
            value.adapt(features);
        }
    }
}

impl<T: Adapt> Adapt for Vec<T> {
    fn adapt(&mut self, features: &WireFeatures) {
        for value in self {
            value.adapt(features);
        }
    }
}

impl<T: Adapt> Adapt for Box<T> {
    fn adapt(&mut self, features: &WireFeatures) {
        T::adapt(self, features);
    }
}

macro_rules! same_in_all_revisions {
    ($($ty:ty),* $(,)?) => {
        $( impl Adapt for $ty {
            fn adapt(&mut self, _: &WireFeatures) {}
        } )*
    };
}

same_in_all_revisions!(String, bool, u64, i64, f64, RawJson, RequestId, ErrorObject);
