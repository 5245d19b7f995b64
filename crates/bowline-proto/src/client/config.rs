//! What a connection may do and how long it waits, with defaults that hold.

use std::time::Duration;

use super::{Backoff, tool_modes::SessionMetaPolicy};
use crate::{
    model::{ClientCapabilities, Implementation, LogLevel, Root, method::RequestClass},
    revision::{Era, Revision},
};

/// The settings of one connection.
///
/// ```
/// use bowline_proto::client::{Config, Timeouts};
///
/// let mut config = Config::new("my-app", "1.0.0");
/// config.timeouts = Timeouts::interactive();
/// assert_eq!(config.max_frame, 16 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Who we say we are.
    pub client_info: Implementation,
    /// What we can do for the server. Only what is declared here is handed up
    /// as an event; the rest is refused on the wire.
    pub capabilities: ClientCapabilities,
    /// The answer to `roots/list`, given only if the capability is declared.
    pub roots: Vec<Root>,
    /// The revisions we are willing to speak.
    pub revisions: Vec<Revision>,
    /// What the link below is.
    pub transport: TransportKind,
    /// The era the server is known to speak, from an earlier connection. It
    /// saves the probe; an assumption that fails is forgotten.
    pub assumed_era: Option<Era>,
    /// How long each thing may take.
    pub timeouts: Timeouts,
    /// The wait between attempts to connect.
    pub backoff: Backoff,
    /// What to do when the link's outbound queue is full.
    pub busy_retry: BusyRetry,
    /// The largest frame, in either direction: 16 MiB.
    pub max_frame_size: usize,
    /// How often expired tombstones are swept: every minute.
    pub sweep_interval: Duration,
    /// How many tombstones are kept at most. An evicted one turns a silent
    /// drop of a late answer into a counted one; nothing else changes.
    pub max_cancelled_calls: usize,
    /// How long `Closing` waits for the link to confirm: 100 ms.
    pub close_timeout: Duration,
    /// How many rounds of input one call may ask for.
    pub max_input_rounds: u32,
    /// How many requests of the server's may be open at once. Together they may
    /// hold as much as one frame may have.
    pub max_server_requests: usize,
    /// When calls carry our session number.
    pub session_meta: SessionMetaPolicy,
    /// Whether a violation that could be tolerated ends the connection.
    pub strict: bool,
    /// The log level asked of the server after every (re)connection.
    pub log_level: Option<LogLevel>,
    /// After how many failed attempts in a row to give up; never, by default.
    pub max_connect_attempts: Option<u32>,
    /// How often sessions may fall before the connection is given up; as often
    /// as they like, by default.
    pub restart_limit: Option<RestartLimit>,
    /// Whether an HTTP server that refuses `initialize` is tried with the
    /// two-endpoint transport of the first revision.
    pub legacy_sse_fallback: bool,
    /// Values of `resultType` that negotiated extensions add.
    pub extension_result_types: Vec<Box<str>>,
    /// Whether [`Output::Telemetry`](super::Output::Telemetry) is produced.
    pub telemetry: bool,
}

impl Config {
    /// The defaults, for a program of this name and version.
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
            busy_retry: BusyRetry::default(),
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

    /// How long a late answer is recognised as one: longer than anything that
    /// can still be on its way.
    #[must_use]
    pub fn cancelled_call_ttl(&self) -> Duration {
        // Saturating: "no timeout" is a setting that people use.
        self.timeouts
            .longest_request()
            .saturating_add(self.timeouts.opening)
            .saturating_add(self.backoff.max())
            .saturating_add(Duration::from_secs(5))
    }
}

/// What the link below a connection is, as far as the protocol cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// One stream of frames in each direction: a child process, a socket,
    /// memory. It dies as a whole.
    Stream,
    /// HTTP exchanges. Each request has a fate of its own, and status codes
    /// are evidence.
    Http,
}

/// How long each thing may take.
///
/// The interactive preset suits a person who waits; it does not suit servers
/// that prepare something at start-up, which need a longer `opening`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the dial to a usable session.
    pub opening: Duration,
    /// How long the question "do you speak the stateless era?" may stay
    /// unanswered before the handshake is tried.
    pub probe: Duration,
    /// Requests about resources.
    pub resource: Duration,
    /// Tool calls.
    pub tool: Duration,
    /// Everything else.
    pub other: Duration,
    /// How long the host may take to answer a server's questions. While it is
    /// asked, calls that the questions may be about are not given up.
    pub input: Duration,
}

impl Timeouts {
    /// 10 s to open, 30 s for each request.
    #[must_use]
    pub fn standard() -> Self {
        let request = Duration::from_secs(30);
        Self {
            opening: Duration::from_secs(10),
            probe: Duration::from_secs(3),
            resource: request,
            tool: request,
            other: request,
            input: Duration::from_secs(600),
        }
    }

    /// 2 s to open, half a second for resources, 1 s for tools and the rest.
    #[must_use]
    pub fn interactive() -> Self {
        Self {
            opening: Duration::from_secs(2),
            probe: Duration::from_millis(700),
            resource: Duration::from_millis(500),
            tool: Duration::from_secs(1),
            other: Duration::from_secs(1),
            input: Duration::from_secs(600),
        }
    }

    /// The time that a request of `class` gets unless the caller says.
    #[must_use]
    pub fn for_class(&self, class: RequestClass) -> Duration {
        match class {
            RequestClass::Initialize => self.opening,
            RequestClass::Resource => self.resource,
            RequestClass::Tool => self.tool,
            RequestClass::Other => self.other,
        }
    }

    fn longest_request(&self) -> Duration {
        self.resource.max(self.tool).max(self.other)
    }
}

/// How often sessions may fall and be opened again. This is for servers that
/// start well and die soon after, again and again: each success starts the
/// count of failed attempts anew, so that
/// [`max_attempts`](Config::max_attempts) does not help against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartLimit {
    /// How many restarts are allowed.
    pub max_restarts: u32,
    /// Within which time.
    pub period: Duration,
}

/// What to do when the link's outbound queue is full.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyRetry {
    /// How often a frame is offered in all: three times.
    pub max_sends: u32,
    /// The wait between two offers: 10 ms, not growing.
    pub delay: Duration,
    /// By which share the wait varies: half.
    pub jitter: f64,
}

impl Default for BusyRetry {
    fn default() -> Self {
        Self {
            max_sends: 3,
            delay: Duration::from_millis(10),
            jitter: 0.5,
        }
    }
}
