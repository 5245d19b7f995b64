//! The differences between revisions, as data.

use super::{Era, Revision};
use crate::model::{Side, WireFeatures, method};

/// Everything that differs between revisions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// The revision these rules belong to.
    pub revision: Revision,
    /// The connection model.
    pub era: Era,
    /// The fields and values that messages may carry. This includes elicitation kinds,
    /// tools in sampling, core tasks and notifications about roots.
    pub features: WireFeatures,
    /// Whether one JSON array may contain several messages.
    pub batching: bool,
    /// Whether the server may send requests to the client.
    pub server_requests: bool,
    /// The error code for a resource that was not found.
    pub resource_not_found: i64,
    /// The error code for "the user must visit a URL first".
    pub url_elicitation_error: Option<i64>,
    /// Whether arguments that do not match a tool's schema produce a result with
    /// `isError` instead of an error response.
    pub invalid_tool_input_is_result: bool,
    /// How a client sets the minimum severity of log messages.
    pub log_level: LogLevelSource,
    /// The `_meta` keys that every request must have.
    pub required_request_meta: &'static [&'static str],
    /// The scope within which a request id must be unique.
    pub id_scope: IdScope,
    /// The kind of HTTP transport.
    pub http: HttpMode,
    /// Which HTTP requests name the protocol version in a header.
    pub version_header: VersionHeader,
    /// Whether HTTP requests repeat the method, the name and marked parameters in
    /// headers.
    pub mirror_headers: bool,
    /// Whether HTTP may have sessions.
    pub sessions: bool,
    /// Whether a broken event stream may be resumed.
    pub resumption: bool,
    /// Whether closing the response stream cancels the request.
    pub disconnect_cancels: bool,
    pub(super) client_methods: &'static [&'static [&'static str]],
    pub(super) server_methods: &'static [&'static [&'static str]],
}

impl Rules {
    /// Returns whether `sender` may send a request or notification with this method.
    ///
    /// Only the revision is checked, not capabilities. Returns `false` for methods that
    /// the protocol does not define.
    #[must_use]
    pub fn allows(&self, method: &str, sender: Side) -> bool {
        let methods = match sender {
            Side::Client => self.client_methods,
            Side::Server => self.server_methods,
        };
        methods.iter().any(|group| group.contains(&method))
    }

    /// Returns the server capability that a client's request needs, as a path for
    /// [`ServerCapabilities::has`](crate::model::ServerCapabilities::has).
    #[must_use]
    pub fn required_capability(&self, method: &str) -> Option<&'static str> {
        // In the first revision, completion is available without a declared
        // capability.
        if method == method::COMPLETION_COMPLETE && !self.features.completions_capability {
            return None;
        }
        method::info(method)?.capability
    }
}

/// How a client sets the minimum severity of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevelSource {
    /// With `logging/setLevel`; until then the server chooses.
    Method,
    /// In the `_meta` of each request; without it, no log messages are sent.
    RequestMeta,
}

/// The scope within which a request id must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdScope {
    /// All requests that the sender makes in a session.
    Session,
    /// Requests that have not been answered yet.
    InFlight,
}

/// Which HTTP requests name the protocol version in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionHeader {
    /// No requests.
    Never,
    /// All requests after the handshake.
    AfterHandshake,
    /// All requests; the header must match the body.
    EveryRequest,
}

/// The kind of HTTP transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMode {
    /// An event stream that names a second endpoint for POST requests.
    LegacySse,
    /// One endpoint: POST, GET for a stream opened by the server, DELETE.
    Streamable {
        /// Whether the server may close a stream early and let the client reconnect.
        polling: bool,
    },
    /// One endpoint that accepts only POST.
    PostOnly,
}
