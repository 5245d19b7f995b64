//! HTTP options with safe defaults.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use super::{
    peer::PeerSource,
    session_stores::{EventStore, SessionStore},
};
use crate::{
    proto::http::{OriginPolicy, resume::EventBufferLimits},
    server::dispatch::request::RequestHandler,
};

/// The default address to serve on: port 8000 of the loopback interface,
/// reachable only from this machine.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8000);

/// Options for serving HTTP.
///
/// Requests over a limit are rejected at no further cost.
///
/// ```
/// use bowline::server::http::HttpOptions;
///
/// let options = HttpOptions {
///     max_body_bytes: 64 * 1024,
///     ..HttpOptions::default()
/// };
/// assert!(!options.cors);
/// ```
#[derive(Clone)]
pub struct HttpOptions {
    /// The hosts and origins allowed: those of this machine by default. A
    /// server behind a proxy sets its own host here.
    pub origins: OriginPolicy,
    /// Whether browsers are told that pages of allowed origins may call the
    /// server. Off by default.
    pub cors: bool,
    /// Token requirements: none by default. If set, every request must have a
    /// token.
    #[cfg(feature = "auth")]
    pub protection: Option<crate::server::auth::Protection>,
    /// The maximum size of a request body: 4 MiB. The server's frame limit also
    /// applies.
    pub max_body_bytes: usize,
    /// How long a request body may take to arrive: 30 seconds. It must also
    /// keep up with [`min_bytes_per_second`](Self::min_bytes_per_second).
    pub body_timeout: Duration,
    /// The minimum rate in bytes per second at which a client must send its
    /// request and read its response: 1,024, enforced once it has been slower
    /// for some time. Zero disables it.
    pub min_bytes_per_second: usize,
    /// The maximum number of requests being read, or processed without a
    /// session: 4,096, for all methods. Others are rejected; the last eighth is
    /// reserved for requests of open sessions. Calls within a session are
    /// limited by
    /// [`Server::max_concurrent_calls`](crate::server::Server::max_concurrent_calls).
    /// Work that continues after its client disconnected still counts.
    pub max_requests: usize,
    /// The approximate number of bytes of all requests being read or processed,
    /// in sessions or not: 256 MiB. Others are rejected. A request counts with
    /// its head and body, plus the memory of each value parsed from the body,
    /// which exceeds the size of small values.
    pub max_request_bytes: usize,
    /// The share of one client in these limits.
    pub client_limits: ClientLimits,
    /// How clients without a [`Principal`](super::Principal) are identified: by
    /// the peer address of the connection by default.
    pub peer_source: PeerSource,
    /// The maximum number of open sessions (revisions up to 2025-11-25): 10,000.
    /// Beyond that, a session that was never initialized, or is idle, is closed in
    /// favor of the new one; see [`ClientLimits`]. The request that opens a
    /// session is limited to 64 KiB.
    pub max_sessions: usize,
    /// The approximate number of bytes all sessions may hold, for client
    /// information, subscriptions and undelivered notifications: 256 MiB.
    /// Beyond that, sessions are closed too.
    pub max_session_bytes: usize,
    /// How long a session without requests or open connections is kept if its
    /// client has not confirmed initialization: one minute.
    pub uninitialized_timeout: Duration,
    /// How long a session without requests or open connections is kept, even if
    /// calls are still running: 30 minutes.
    pub idle_timeout: Duration,
    /// The maximum number of open streams of changes: 10,000. This includes GET
    /// streams of sessions (revisions up to 2025-11-25).
    pub max_listen_streams: usize,
    /// How long a response may take before a stream is opened for it, so
    /// intermediaries do not time out: ten seconds.
    pub stream_after: Duration,
    /// The keep-alive interval of idle streams: 15 seconds.
    pub keep_alive_interval: Duration,
    /// How long a client should wait before it resumes a closed stream: one
    /// second.
    pub retry_delay: Duration,
    /// How much of its streams each session keeps for clients that resume.
    pub replay_limits: EventBufferLimits,
    /// The maximum number of bytes all sessions keep for that: 256 MiB. Streams
    /// beyond that cannot be resumed.
    pub max_replay_bytes: usize,
    /// Stores sessions, so another node or a later process can restore them.
    /// By default that of [`Server::stores`](crate::server::Server::stores), which
    /// receives them sealed, or none.
    pub session_store: Option<Arc<dyn SessionStore>>,
    /// Stores events, so streams can be resumed on another node. By default
    /// that of [`Server::stores`](crate::server::Server::stores), which receives
    /// them sealed, or none.
    pub event_store: Option<Arc<dyn EventStore>>,
    /// Makes this process a node of a cluster, in which every node accepts the requests
    /// of all sessions. None by default.
    #[cfg(feature = "cluster")]
    pub cluster: Option<super::Cluster>,
    /// How long a connection may take to send a request head (standalone server
    /// only): ten seconds.
    pub header_timeout: Duration,
    /// How long a client may leave its response or stream unread (standalone
    /// server only): 30 seconds. Then its connection is closed and its
    /// resources are released. A client that reads some of it gets as much more
    /// time as [`min_bytes_per_second`](Self::min_bytes_per_second) allows.
    pub write_timeout: Duration,
    /// The maximum size of a request head (standalone server only): 64 KiB, and
    /// never less than 8 KiB.
    pub max_head_bytes: usize,
    /// The maximum number of concurrent connections (standalone server only):
    /// 10,000. Others wait.
    pub max_connections: usize,
}

/// The resources one client may use at once, out of those of all clients.
///
/// A client is a [`Principal`](super::Principal) if the request has one, from a
/// layer or a token. Otherwise it is the address the request comes from, as
/// determined by [`HttpOptions::peer_source`]; for IPv6 the /64 network. All
/// clients in one /48 network together may use twice as much. If the address is
/// unknown too, only the limits of all clients apply.
///
/// Behind a reverse proxy, all clients without a principal have the proxy's
/// address and share these limits. In that case, set
/// [`HttpOptions::peer_source`] to read the client address that the proxy
/// provides, and raise `max_connections`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Sessions: 2,500. Beyond that, one of the client's own is closed: the
    /// oldest that was never initialized, or the one idle for longest.
    pub max_sessions: usize,
    /// The approximate number of bytes its sessions hold: 64 MiB.
    pub max_session_bytes: usize,
    /// Requests being read, or processed without a session: 1,024. Others are
    /// rejected.
    pub max_requests: usize,
    /// Bytes of requests being read or processed, in sessions or not: 64 MiB.
    /// Others are rejected.
    pub max_request_bytes: usize,
    /// Bytes kept for resuming session streams: 64 MiB.
    pub max_replay_bytes: usize,
    /// Streams of changes: 2,500. Others are rejected.
    pub max_listen_streams: usize,
    /// Connections (standalone server only): 5,000. Others are closed. Counted
    /// by address only, as the principal is not known yet.
    pub max_connections: usize,
}

impl ClientLimits {
    /// No limits except those of all clients together.
    pub const UNLIMITED: Self = Self {
        max_sessions: usize::MAX,
        max_session_bytes: usize::MAX,
        max_requests: usize::MAX,
        max_request_bytes: usize::MAX,
        max_replay_bytes: usize::MAX,
        max_listen_streams: usize::MAX,
        max_connections: usize::MAX,
    };

    /// Multiplies all limits.
    pub(super) fn scaled(self, factor: usize) -> Self {
        Self {
            max_sessions: self.max_sessions.saturating_mul(factor),
            max_session_bytes: self.max_session_bytes.saturating_mul(factor),
            max_requests: self.max_requests.saturating_mul(factor),
            max_request_bytes: self.max_request_bytes.saturating_mul(factor),
            max_replay_bytes: self.max_replay_bytes.saturating_mul(factor),
            max_listen_streams: self.max_listen_streams.saturating_mul(factor),
            max_connections: self.max_connections.saturating_mul(factor),
        }
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            max_sessions: 2500,
            max_session_bytes: 64 * 1024 * 1024,
            max_requests: 1024,
            max_request_bytes: 64 * 1024 * 1024,
            max_replay_bytes: 64 * 1024 * 1024,
            max_listen_streams: 2500,
            max_connections: 5000,
        }
    }
}

/// Practically never, but safe to add to an instant.
const FAR_FUTURE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl HttpOptions {
    /// Limits durations so they can be added to an instant.
    pub(super) fn with_finite_durations(mut self) -> Self {
        let durations = [
            &mut self.body_timeout,
            &mut self.idle_timeout,
            &mut self.uninitialized_timeout,
            &mut self.stream_after,
            &mut self.keep_alive_interval,
            &mut self.header_timeout,
            &mut self.write_timeout,
        ];
        for time in durations {
            *time = FAR_FUTURE.min(*time);
        }
        self
    }

    /// Uses the stores of the server where there are no others.
    pub(super) fn with_stores(mut self, handler: &dyn RequestHandler) -> Self {
        let Some(stores) = handler.stores() else {
            return self;
        };
        let sessions = || stores.sessions.clone();
        self.session_store = self.session_store.or_else(sessions);
        let events = || stores.events.clone();
        self.event_store = self.event_store.or_else(events);
        #[cfg(feature = "auth")]
        if let Some(protection) = &self.protection {
            protection.use_stores(stores);
        }
        self
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            origins: OriginPolicy::loopback(),
            cors: false,
            #[cfg(feature = "auth")]
            protection: None,
            max_body_bytes: 4 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            min_bytes_per_second: 1024,
            max_requests: 4096,
            max_request_bytes: 256 * 1024 * 1024,
            client_limits: ClientLimits::default(),
            peer_source: PeerSource::default(),
            max_sessions: 10_000,
            max_session_bytes: 256 * 1024 * 1024,
            uninitialized_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(30 * 60),
            max_listen_streams: 10_000,
            stream_after: Duration::from_secs(10),
            keep_alive_interval: Duration::from_secs(15),
            retry_delay: Duration::from_secs(1),
            replay_limits: EventBufferLimits::default(),
            max_replay_bytes: 256 * 1024 * 1024,
            session_store: None,
            event_store: None,
            #[cfg(feature = "cluster")]
            cluster: None,
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            max_head_bytes: 64 * 1024,
            max_connections: 10_000,
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("origins", &self.origins)
            .field("cors", &self.cors)
            .field("max_body", &self.max_body_bytes)
            .field("requests", &self.max_requests)
            .field("per_client", &self.client_limits)
            .field("peer", &self.peer_source)
            .field("sessions", &self.max_sessions)
            .field("idle", &self.idle_timeout)
            .field("listens", &self.max_listen_streams)
            .field("connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}
