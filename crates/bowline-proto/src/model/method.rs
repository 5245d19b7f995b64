//! The methods of the protocol and their properties.

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Opens a connection.
pub const INITIALIZE: &str = "initialize";
/// Requests a description of a server.
pub const DISCOVER: &str = "server/discover";
/// Checks whether the peer is alive.
pub const PING: &str = "ping";
/// Lists tools.
pub const TOOLS_LIST: &str = "tools/list";
/// Calls a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// Lists resources.
pub const RESOURCES_LIST: &str = "resources/list";
/// Lists resource templates.
pub const RESOURCES_TEMPLATES_LIST: &str = "resources/templates/list";
/// Reads a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// Subscribes to a resource.
pub const RESOURCES_SUBSCRIBE: &str = "resources/subscribe";
/// Unsubscribes from a resource.
pub const RESOURCES_UNSUBSCRIBE: &str = "resources/unsubscribe";
/// Lists prompts.
pub const PROMPTS_LIST: &str = "prompts/list";
/// Gets a prompt.
pub const PROMPTS_GET: &str = "prompts/get";
/// Completes an argument.
pub const COMPLETION_COMPLETE: &str = "completion/complete";
/// Sets the minimum severity of log messages.
pub const LOGGING_SET_LEVEL: &str = "logging/setLevel";
/// Opens a subscription.
pub const SUBSCRIPTIONS_LISTEN: &str = "subscriptions/listen";
/// Requests the status of a task.
pub const TASKS_GET: &str = "tasks/get";
/// Requests the result of a core task.
pub const TASKS_RESULT: &str = "tasks/result";
/// Lists core tasks.
pub const TASKS_LIST: &str = "tasks/list";
/// Cancels a task.
pub const TASKS_CANCEL: &str = "tasks/cancel";
/// Sends a task its input; part of the extension.
pub const TASKS_UPDATE: &str = "tasks/update";

/// Requests a message from the client's model.
pub const SAMPLING_CREATE_MESSAGE: &str = "sampling/createMessage";
/// Asks the user.
pub const ELICITATION_CREATE: &str = "elicitation/create";
/// Requests the client's roots.
pub const ROOTS_LIST: &str = "roots/list";

/// Completes the handshake.
pub const INITIALIZED: &str = "notifications/initialized";
/// Cancels a request.
pub const CANCELLED: &str = "notifications/cancelled";
/// Notifies of the progress of a request.
pub const PROGRESS: &str = "notifications/progress";
/// A log message.
pub const MESSAGE: &str = "notifications/message";
/// Notifies that the list of tools changed.
pub const TOOLS_LIST_CHANGED: &str = "notifications/tools/list_changed";
/// Notifies that the list of resources changed.
pub const RESOURCES_LIST_CHANGED: &str = "notifications/resources/list_changed";
/// Notifies that a resource changed.
pub const RESOURCES_UPDATED: &str = "notifications/resources/updated";
/// Notifies that the list of prompts changed.
pub const PROMPTS_LIST_CHANGED: &str = "notifications/prompts/list_changed";
/// Notifies that the client's roots changed.
pub const ROOTS_LIST_CHANGED: &str = "notifications/roots/list_changed";
/// Acknowledges a subscription with the notifications that it will deliver.
pub const SUBSCRIPTIONS_ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// Notifies that a page visit is complete.
pub const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
/// Notifies that a core task changed.
pub const TASKS_STATUS: &str = "notifications/tasks/status";
/// Notifies that a task of the extension changed.
pub const TASKS_CHANGED: &str = "notifications/tasks";

/// The classes of requests with separate timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestClass {
    /// Opening a connection.
    Initialize,
    /// Reading and listing resources.
    Resource,
    /// Calling and listing tools.
    Tool,
    /// All others.
    Other,
}

/// The properties of a request from client to server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The method.
    pub name: &'static str,
    /// The server capability that it requires, as a path for
    /// [`ServerCapabilities::has`](super::ServerCapabilities::has).
    pub capability: Option<&'static str>,
    /// The class that determines its timeout.
    pub class: RequestClass,
    /// Whether the server may ask for input before it answers.
    pub input_rounds: bool,
    /// The param that HTTP mirrors in the `Mcp-Name` header.
    pub mirrored: Option<&'static str>,
}

/// Returns the properties of a client's request; `None` if it is not part of
/// the protocol.
///
/// ```
/// use bowline_proto::model::method::{self, RequestClass};
///
/// let read = method::info("resources/read").unwrap();
/// assert_eq!(read.capability, Some("resources"));
/// assert_eq!(read.class, RequestClass::Resource);
/// assert_eq!(read.mirrored, Some("uri"));
/// ```
#[must_use]
pub fn info(method: &str) -> Option<&'static MethodInfo> {
    REQUESTS.iter().find(|info| info.name == method)
}

/// Returns the timeout class of a request, from either side.
#[must_use]
pub fn class(method: &str) -> RequestClass {
    info(method).map_or(RequestClass::Other, |info| info.class)
}

const REQUESTS: &[MethodInfo] = &[
    request(INITIALIZE).class(RequestClass::Initialize),
    request(DISCOVER).class(RequestClass::Initialize),
    request(PING),
    request(TOOLS_LIST).needs("tools").class(RequestClass::Tool),
    request(TOOLS_CALL)
        .needs("tools")
        .class(RequestClass::Tool)
        .with_input_rounds()
        .mirrors("name"),
    request(RESOURCES_LIST)
        .needs("resources")
        .class(RequestClass::Resource),
    request(RESOURCES_TEMPLATES_LIST)
        .needs("resources")
        .class(RequestClass::Resource),
    request(RESOURCES_READ)
        .needs("resources")
        .class(RequestClass::Resource)
        .with_input_rounds()
        .mirrors("uri"),
    request(RESOURCES_SUBSCRIBE)
        .needs("resources.subscribe")
        .class(RequestClass::Resource),
    request(RESOURCES_UNSUBSCRIBE)
        .needs("resources.subscribe")
        .class(RequestClass::Resource),
    request(PROMPTS_LIST).needs("prompts"),
    request(PROMPTS_GET)
        .needs("prompts")
        .with_input_rounds()
        .mirrors("name"),
    request(COMPLETION_COMPLETE).needs("completions"),
    request(LOGGING_SET_LEVEL).needs("logging"),
    request(SUBSCRIPTIONS_LISTEN),
    // Tasks need a capability in one era and an extension in the other, so the
    // sender must know which.
    request(TASKS_GET).mirrors("taskId"),
    // The server may ask by request before it answers.
    request(TASKS_RESULT).with_input_rounds(),
    request(TASKS_LIST),
    request(TASKS_CANCEL).mirrors("taskId"),
    request(TASKS_UPDATE).mirrors("taskId"),
];

const fn request(name: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        capability: None,
        class: RequestClass::Other,
        input_rounds: false,
        mirrored: None,
    }
}

impl MethodInfo {
    const fn needs(mut self, capability: &'static str) -> Self {
        self.capability = Some(capability);
        self
    }

    const fn class(mut self, class: RequestClass) -> Self {
        self.class = class;
        self
    }

    const fn with_input_rounds(mut self) -> Self {
        self.input_rounds = true;
        self
    }

    const fn mirrors(mut self, param: &'static str) -> Self {
        self.mirrored = Some(param);
        self
    }
}
