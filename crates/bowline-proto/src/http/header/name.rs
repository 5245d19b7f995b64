//! The names of the headers that the protocol uses.
//!
//! Names are case-insensitive. These are written in lower case because HTTP/2
//! demands it and because header libraries take lower-case constants as they are.

/// What the client can read.
pub const ACCEPT: &str = "accept";
/// What the body is.
pub const CONTENT_TYPE: &str = "content-type";
/// Which host the client believes it talks to.
pub const HOST: &str = "host";
/// The last event that the client saw, when it resumes a stream.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The revision that the message is written in.
pub const MCP_PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// Mirror of the body's `method`.
pub const MCP_METHOD: &str = "mcp-method";
/// Mirror of the tool, prompt, resource or task that the body names.
pub const MCP_NAME: &str = "mcp-name";
/// What the name of a mirrored tool argument begins with.
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";
/// The session, on revisions that have sessions.
pub const MCP_SESSION_ID: &str = "mcp-session-id";
/// Which web page's script sent the request.
pub const ORIGIN: &str = "origin";
/// How long a busy server wants to be left alone.
pub const RETRY_AFTER: &str = "retry-after";
/// Tells proxies whether to hold a stream back; see [`NO_BUFFERING`].
pub const X_ACCEL_BUFFERING: &str = "x-accel-buffering";

/// The media type of a single message.
pub const APPLICATION_JSON: &str = "application/json";
/// The media type of an event stream.
pub const TEXT_EVENT_STREAM: &str = "text/event-stream";
/// The `Accept` value of every POST: both kinds of answer.
pub const ACCEPT_BOTH: &str = "application/json, text/event-stream";
/// The [`X_ACCEL_BUFFERING`] value of every event stream.
pub const NO_BUFFERING: &str = "no";
