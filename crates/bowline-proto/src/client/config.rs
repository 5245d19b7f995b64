//! Connection configuration: limits, timeouts and their defaults.

use std::time::Duration;

use super::{Backoff, tool_modes::SessionMetaPolicy};
use crate::{
    model::{ClientCapabilities, Implementation, LogLevel, Root, method::RequestClass},
    revision::{Era, Revision},
};

/// The configuration of one connection.
///
/// ```
/// use bowline_proto::client::{Config, Timeouts};
///
/// let mut config = Config::new("my-app", "1.0.0");
/// config.timeouts = Timeouts::interactive();
/// assert_eq!(config.max_frame_size, 16 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// The name and version that this client reports to the server.
    pub client_info: Implementation,
    /// The capabilities offered to the server. Only requests that match a declared
    /// capability are delivered as events; others are refused on the wire.
    pub capabilities: ClientCapabilities,
    /// The answer to `roots/list`, sent only if the capability is declared.
    pub roots: Vec<Root>,
    /// The revisions that this client allows.
    pub revisions: Vec<Revision>,
    /// The kind of transport underneath.
    pub transport: TransportKind,
    /// The era the server is known to speak, from an earlier connection. It saves the
    /// probe; an assumption that turns out wrong is discarded.
    pub assumed_era: Option<Era>,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// The delay between connection attempts.
    pub backoff: Backoff,
    /// What to do when the link's outbound queue is full.
    pub queue_full_retry: QueueFullRetry,
    /// The maximum frame size in bytes, in either direction. Default: 16 MiB.
    pub max_frame_size: usize,
    /// The interval at which expired ids of cancelled calls are removed. Default: one
    /// minute.
    pub sweep_interval: Duration,
    /// The maximum number of cancelled calls to remember. A late response to an evicted
    /// one is reported as unknown instead of late; nothing else changes.
    pub max_cancelled_calls: usize,
    /// How long `Closing` waits for the link to confirm. Default: 100 ms.
    pub close_timeout: Duration,
    /// The maximum number of input rounds per call. Where servers ask by request, the
    /// maximum number of questions that extend a call's timeout. Default: 32.
    pub max_input_rounds: u32,
    /// The maximum number of open requests from the server. Their combined size is
    /// limited to [`max_frame_size`](Self::max_frame_size).
    pub max_server_requests: usize,
    /// When calls carry the session number.
    pub session_meta: SessionMetaPolicy,
    /// Whether a protocol violation that could be tolerated ends the connection.
    pub strict: bool,
    /// The log level requested from the server after every (re)connection.
    pub log_level: Option<LogLevel>,
    /// The number of consecutive failed attempts after which to give up. Default:
    /// never.
    pub max_connect_attempts: Option<u32>,
    /// How many times sessions may be lost before the connection gives up. Default: no
    /// limit.
    pub restart_limit: Option<RestartLimit>,
    /// Whether to try the two-endpoint transport of the first revision with an HTTP
    /// server that refuses `initialize`.
    pub legacy_sse_fallback: bool,
    /// Additional values of `resultType` from negotiated extensions.
    pub extension_result_types: Vec<Box<str>>,
    /// Whether [`Output::Telemetry`](super::Output::Telemetry) is produced.
    pub telemetry: bool,
}

impl Config {
    /// Returns the default configuration for a program with this name and version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            client_info: Implementation::new(name, version),
            capabilities: ClientCapabilities::default(),
            roots: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            transport: TransportKind::Stream,
            assumed_era: None,
            timeouts: Timeouts::standard(),
            backoff: Backoff::default(),
            queue_full_retry: QueueFullRetry::default(),
            max_frame_size: 16 * 1024 * 1024,
            sweep_interval: Duration::from_secs(60),
            max_cancelled_calls: 4096,
            close_timeout: Duration::from_millis(100),
            max_input_rounds: 32,
            max_server_requests: 64,
            session_meta: SessionMetaPolicy::WhenDeclared,
            strict: false,
            log_level: None,
            max_connect_attempts: None,
            restart_limit: None,
            legacy_sse_fallback: true,
            extension_result_types: Vec::new(),
            telemetry: true,
        }
    }

    /// Returns how long a late response is recognised as such: longer than any response
    /// can still be in transit.
    #[must_use]
    pub fn cancelled_call_ttl(&self) -> Duration {
        // Saturating, because "no timeout" is a setting that people use.
        self.timeouts
            .longest_request()
            .saturating_add(self.timeouts.connect)
            .saturating_add(self.backoff.max())
            .saturating_add(Duration::from_secs(5))
    }
}

/// The kind of transport underneath a connection, as far as the protocol cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// One stream of frames in each direction: a child process, a socket, memory. It
    /// fails as a whole.
    Stream,
    /// HTTP exchanges. Each request succeeds or fails on its own, and status codes are
    /// evidence of the server's era.
    Http,
}

/// The timeouts of a connection.
///
/// The interactive preset suits a waiting user. It does not suit servers that prepare
/// something at start-up; they need a longer `connect`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the dial to an open session.
    pub connect: Duration,
    /// How long to wait for the response to the era probe before trying the handshake.
    pub probe: Duration,
    /// Requests about resources.
    pub resource: Duration,
    /// Tool calls.
    pub tool: Duration,
    /// All other requests.
    pub other: Duration,
    /// How long the host may take to answer a server's questions. Meanwhile, this timeout
    /// applies to the calls that the questions may belong to, instead of their own.
    pub input: Duration,
}

impl Timeouts {
    /// Returns the standard preset: 10 s to open, 30 s for each request.
    #[must_use]
    pub fn standard() -> Self {
        let request = Duration::from_secs(30);
        Self {
            connect: Duration::from_secs(10),
            probe: Duration::from_secs(3),
            resource: request,
            tool: request,
            other: request,
            input: Duration::from_secs(600),
        }
    }

    /// Returns the interactive preset: 2 s to open, half a second for resources, 1 s
    /// for tools and other requests.
    #[must_use]
    pub fn interactive() -> Self {
        Self {
            connect: Duration::from_secs(2),
            probe: Duration::from_millis(700),
            resource: Duration::from_millis(500),
            tool: Duration::from_secs(1),
            other: Duration::from_secs(1),
            input: Duration::from_secs(600),
        }
    }

    /// Returns the default timeout for requests of `class`.
    #[must_use]
    pub fn for_class(&self, class: RequestClass) -> Duration {
        match class {
            RequestClass::Initialize => self.connect,
            RequestClass::Resource => self.resource,
            RequestClass::Tool => self.tool,
            RequestClass::Other => self.other,
        }
    }

    fn longest_request(&self) -> Duration {
        self.resource.max(self.tool).max(self.other)
    }
}

/// How many times sessions may be lost and opened again. This limits servers that start
/// successfully but repeatedly crash soon after: each success resets the count of
/// failed attempts, so [`max_connect_attempts`](Config::max_connect_attempts) does not
/// stop them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartLimit {
    /// The maximum number of restarts.
    pub max_restarts: u32,
    /// The period in which they are counted.
    pub period: Duration,
}

/// What to do when the link's outbound queue is full.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueFullRetry {
    /// The maximum number of times a frame is sent. Default: three.
    pub max_sends: u32,
    /// The fixed delay between two attempts. Default: 10 ms.
    pub delay: Duration,
    /// The ratio by which the delay varies. Default: 0.5.
    pub jitter: f64,
}

impl Default for QueueFullRetry {
    fn default() -> Self {
        Self {
            max_sends: 3,
            delay: Duration::from_millis(10),
            jitter: 0.5,
        }
    }
}
