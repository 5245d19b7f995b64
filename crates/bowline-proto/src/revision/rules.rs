//! What a revision decides, as data.

use super::{Era, Revision};
use crate::model::{Dialect, Side, method};

/// All that a revision decides.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// Whose rules these are.
    pub revision: Revision,
    /// How a connection lives.
    pub era: Era,
    /// What messages may carry. Elicitation kinds, tools in sampling, core
    /// tasks and notices about roots are decided here, too.
    pub dialect: Dialect,
    /// Several messages may come in one JSON array.
    pub batching: bool,
    /// The server may send requests to the client.
    pub server_requests: bool,
    /// The error code for a resource that is not there.
    pub resource_not_found: i64,
    /// The error code that says that a page must be visited first.
    pub url_elicitation_error: Option<i64>,
    /// Arguments that do not fit a tool's schema make a result with `isError`,
    /// not an error response.
    pub invalid_tool_input_is_result: bool,
    /// How a client says from which severity on it wants log messages.
    pub log_level: LogLevelSource,
    /// What every request must have in `_meta`.
    pub required_request_meta: &'static [&'static str],
    /// Among which requests an id must be unique.
    pub id_scope: IdScope,
    /// The shape of the HTTP transport.
    pub http: HttpMode,
    /// Which HTTP requests name the protocol version in a header.
    pub version_header: VersionHeader,
    /// HTTP requests repeat method, name and marked params in headers.
    pub mirror_headers: bool,
    /// HTTP may have sessions.
    pub sessions: bool,
    /// A broken event stream may be taken up again.
    pub resumption: bool,
    /// Closing the response stream calls the request off.
    pub disconnect_cancels: bool,
    pub(super) client_methods: &'static [&'static [&'static str]],
    pub(super) server_methods: &'static [&'static [&'static str]],
}

impl Rules {
    /// Whether `sender` may use a request or notification of the protocol.
    ///
    /// This is about the revision alone; capabilities come on top. Methods that
    /// are not in the protocol are not allowed by it.
    #[must_use]
    pub fn allows(&self, method: &str, sender: Side) -> bool {
        let methods = match sender {
            Side::Client => self.client_methods,
            Side::Server => self.server_methods,
        };
        methods.iter().any(|group| group.contains(&method))
    }

    /// The server capability that a client's request needs, as a path for
    /// [`ServerCapabilities::has`](crate::model::ServerCapabilities::has).
    #[must_use]
    pub fn required_capability(&self, method: &str) -> Option<&'static str> {
        // At first, completion came with prompts and resources, undeclared.
        if method == method::COMPLETION_COMPLETE && !self.dialect.completions_capability {
            return None;
        }
        method::info(method)?.capability
    }
}

/// How a client says from which severity on it wants log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevelSource {
    /// Once, by `logging/setLevel`; until then the server chooses.
    Method,
    /// In `_meta` of each request; without it, none are sent.
    RequestMeta,
}

/// Among which requests an id must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdScope {
    /// All that the sender makes in a session.
    Session,
    /// Those not yet answered.
    InFlight,
}

/// Which HTTP requests name the protocol version in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionHeader {
    /// None.
    Never,
    /// All after the handshake.
    AfterHandshake,
    /// All, and it must equal what the body says.
    EveryRequest,
}

/// The shape of the HTTP transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMode {
    /// An event stream that names a second endpoint to post to.
    LegacySse,
    /// One endpoint: POST, GET for a stream of the server's own, DELETE.
    Streamable {
        /// The server may close a stream early and have the client come back.
        polling: bool,
    },
    /// One endpoint, and nothing but POST.
    PostOnly,
}
