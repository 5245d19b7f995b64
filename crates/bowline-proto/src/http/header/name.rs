//! Names and values of the headers that the protocol uses.
//!
//! Names are case-insensitive. They are in lower case because HTTP/2 requires
//! it and because header libraries accept lower-case constants as they are.

/// The media types the client accepts.
pub const ACCEPT: &str = "accept";
/// The media type of the body.
pub const CONTENT_TYPE: &str = "content-type";
/// The host that the client connects to.
pub const HOST: &str = "host";
/// The last event that the client received, when it resumes a stream.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The protocol revision of the message.
pub const MCP_PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// Mirror of the body's `method`.
pub const MCP_METHOD: &str = "mcp-method";
/// Mirror of the tool, prompt, resource or task that the body names.
pub const MCP_NAME: &str = "mcp-name";
/// The prefix of the header names of mirrored tool arguments.
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";
/// The session, in revisions that have sessions.
pub const MCP_SESSION_ID: &str = "mcp-session-id";
/// The origin of the web page whose script sent the request.
pub const ORIGIN: &str = "origin";
/// How long to wait before trying a busy server again.
pub const RETRY_AFTER: &str = "retry-after";
/// Tells proxies whether to buffer a stream; see [`NO_BUFFERING`].
pub const X_ACCEL_BUFFERING: &str = "x-accel-buffering";

/// The media type of a single message.
pub const APPLICATION_JSON: &str = "application/json";
/// The media type of an event stream.
pub const TEXT_EVENT_STREAM: &str = "text/event-stream";
/// The `Accept` value of every POST: both kinds of response.
pub const ACCEPT_BOTH: &str = "application/json, text/event-stream";
/// The [`X_ACCEL_BUFFERING`] value of every event stream.
pub const NO_BUFFERING: &str = "no";
