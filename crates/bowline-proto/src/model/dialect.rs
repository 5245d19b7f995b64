//! What a revision's wire can carry, and fitting a message to it.

use crate::jsonrpc::{ErrorObject, RawJson, RequestId};

/// The vocabulary of one revision.
///
/// The model holds what any revision can say. A dialect says what one of them
/// can; [`Adapt`] takes the rest off a message before it is sent. The values
/// belong to [`revision`](crate::revision).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// Display titles beside names.
    pub titles: bool,
    /// Icons on tools, resources, prompts and implementations.
    pub icons: bool,
    /// `description` and `websiteUrl` of an implementation.
    pub implementation_details: bool,
    /// `_meta` on tools, resources, prompts, roots and content.
    pub meta_on_types: bool,
    /// `_meta` that says who sends a message, and which subscription it is of.
    pub sender_in_meta: bool,
    /// `lastModified` among annotations.
    pub last_modified: bool,
    /// Hints about what a tool does.
    pub tool_annotations: bool,
    /// Tools that declare the shape of their result.
    pub output_schema: bool,
    /// What a tool may return beside content.
    pub structured_content: StructuredContent,
    /// Audio content.
    pub audio: bool,
    /// Links to resources as content.
    pub resource_links: bool,
    /// A text beside the number in progress notifications.
    pub progress_message: bool,
    /// Earlier arguments in completion requests.
    pub completion_context: bool,
    /// A capability of its own for completion.
    pub completions_capability: bool,
    /// What can be asked of a user.
    pub elicitation: ElicitationDialect,
    /// Tools in sampling: the lists, their content, several blocks in a
    /// message, and `_meta` on a message.
    pub sampling_tools: bool,
    /// Tasks as part of the core protocol.
    pub core_tasks: bool,
    /// Notices that the client's roots changed.
    pub roots_list_changed: bool,
    /// Extensions among the capabilities.
    pub extensions: bool,
    /// `resultType` on every result a server sends.
    pub result_type: bool,
    /// `ttlMs` and `cacheScope` on what can be cached.
    pub cache_hints: bool,
    /// Results that ask for input, and requests that bring it.
    pub input_rounds: bool,
}

/// What a tool may return beside content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredContent {
    /// Nothing.
    None,
    /// An object.
    Object,
    /// Any JSON value, `null` included.
    Any,
}

/// What can be asked of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationDialect {
    /// A form to fill in. Without this there is no elicitation at all.
    pub form: bool,
    /// A page to visit; with it, the choice between the two is on the wire.
    pub url: bool,
    /// A visit to a page has an id, by which its end is announced.
    pub url_id: bool,
    /// Choices of several values.
    pub multi_select: bool,
    /// Choices whose titles stand beside their values, not in `enumNames`.
    pub titled_enums: bool,
    /// Defaults on other fields than booleans.
    pub defaults: bool,
}

impl Dialect {
    /// A dialect without any of the switches; revisions add theirs.
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
        elicitation: ElicitationDialect {
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

/// Fits a value to what a dialect can carry, before it is encoded.
///
/// Members the dialect lacks are taken off; members it demands are added with
/// safe values. Content of a kind it lacks becomes a text that says what was
/// left out. Members that this crate does not know stay.
pub trait Adapt {
    /// Fits the value to the dialect.
    fn adapt(&mut self, dialect: &Dialect);
}

impl<T: Adapt> Adapt for Option<T> {
    fn adapt(&mut self, dialect: &Dialect) {
        if let Some(value) = self {
            value.adapt(dialect);
        }
    }
}

impl<T: Adapt> Adapt for Vec<T> {
    fn adapt(&mut self, dialect: &Dialect) {
        for value in self {
            value.adapt(dialect);
        }
    }
}

impl<T: Adapt> Adapt for Box<T> {
    fn adapt(&mut self, dialect: &Dialect) {
        T::adapt(self, dialect);
    }
}

macro_rules! same_in_all_revisions {
    ($($ty:ty),* $(,)?) => {
        $( impl Adapt for $ty {
            fn adapt(&mut self, _: &Dialect) {}
        } )*
    };
}

same_in_all_revisions!(String, bool, u64, i64, f64, RawJson, RequestId, ErrorObject);
