//! How HTTP is served, with defaults that hold.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use super::store::{EventStore, SessionStore};
use crate::proto::http::{OriginPolicy, resume::ReplayLimits};

/// Where to serve, for those who have no address in mind: port 8000 of the
/// loopback interface, which only programs on this machine can reach.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8000);

/// How HTTP is served.
///
/// What is over a limit is refused, and costs no more than the refusal.
///
/// ```
/// use bowline::server::http::HttpOptions;
///
/// let options = HttpOptions {
///     max_body: 64 * 1024,
///     ..HttpOptions::default()
/// };
/// assert!(!options.cors);
/// ```
#[derive(Clone)]
pub struct HttpOptions {
    /// Which hosts and web pages may talk to the server: those of this machine
    /// unless given. A server behind a proxy names its own host here.
    pub origins: OriginPolicy,
    /// Whether browsers are told that pages of allowed origins may call the
    /// server. Not unless given.
    pub cors: bool,
    /// What is asked of those who come: nothing unless given. Then every
    /// request must bring a token.
    #[cfg(feature = "auth")]
    pub protection: Option<crate::server::auth::Protection>,
    /// The largest body of a request: 4 MiB. The server's limit on frames
    /// holds too.
    pub max_body: usize,
    /// How long a request's body may take to arrive: half a minute.
    pub body_time: Duration,
    /// How many requests are read, or worked on without a session, at once:
    /// 4,096. Others are refused. Calls within a session are limited by
    /// [`Server::at_once`](crate::server::Server::at_once).
    pub requests: usize,
    /// How many sessions of the older revisions may be open: 10,000.
    pub sessions: usize,
    /// After how long without a request or an open connection a session is
    /// closed, whatever it still works on: half an hour.
    pub idle: Duration,
    /// How many streams of changes may be open: 10,000.
    pub listens: usize,
    /// How long an answer may take before a stream is opened for it, so that
    /// nobody on the way loses patience: ten seconds.
    pub patience: Duration,
    /// How often something is sent on a quiet stream: every 15 seconds.
    pub keep_alive: Duration,
    /// How long a client should wait before it comes back to a stream that was
    /// closed: one second.
    pub retry: Duration,
    /// How much of its streams each session keeps for a client that comes back
    /// for what it missed.
    pub replay: ReplayLimits,
    /// How many bytes all sessions together keep for that: 256 MiB. Streams
    /// that find no room cannot be resumed.
    pub replay_bytes: usize,
    /// Where sessions are noted, so that another node or a later run can take
    /// them up. Nowhere unless given.
    pub session_store: Option<Arc<dyn SessionStore>>,
    /// Where events are noted, so that streams can be resumed elsewhere.
    /// Nowhere unless given.
    pub event_store: Option<Arc<dyn EventStore>>,
    /// How long a connection may take to send the head of a request, where we
    /// hold the socket: ten seconds.
    pub header_time: Duration,
    /// How long a client may leave its answer or stream unread, where we hold
    /// the socket: half a minute. Then its connection is closed, and what it
    /// held is free. Each bit that it takes begins the time anew.
    pub write_time: Duration,
    /// The largest head of a request, where we hold the socket: 64 KiB, and
    /// never less than 8.
    pub max_head: usize,
    /// How many connections are served at once, where we hold the socket:
    /// 10,000. Others wait.
    pub connections: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            origins: OriginPolicy::loopback(),
            cors: false,
            #[cfg(feature = "auth")]
            protection: None,
            max_body: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            requests: 4096,
            sessions: 10_000,
            idle: Duration::from_secs(30 * 60),
            listens: 10_000,
            patience: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            replay: ReplayLimits::default(),
            replay_bytes: 256 * 1024 * 1024,
            session_store: None,
            event_store: None,
            header_time: Duration::from_secs(10),
            write_time: Duration::from_secs(30),
            max_head: 64 * 1024,
            connections: 10_000,
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("origins", &self.origins)
            .field("cors", &self.cors)
            .field("max_body", &self.max_body)
            .field("requests", &self.requests)
            .field("sessions", &self.sessions)
            .field("idle", &self.idle)
            .field("listens", &self.listens)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}
