//! How HTTP is served, with defaults that hold.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use super::{
    peer::PeerSource,
    store::{EventStore, SessionStore},
};
use crate::proto::http::{OriginPolicy, resume::EventBufferLimits};

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
    pub max_body_bytes: usize,
    /// How long a request's body may take to arrive: half a minute. It must
    /// also keep up with [`min_bytes_per_second`](Self::min_rate).
    pub body_timeout: Duration,
    /// How many bytes a client must send each second while its request is
    /// read, and take while an answer waits for it: 1,024, once it has been
    /// slower than that for some time. None at all if zero.
    pub min_bytes_per_second: usize,
    /// How many requests are read, or worked on without a session, at once:
    /// 4,096, whatever their method. Others are refused; the last eighth of the
    /// places is for requests of sessions that are open. Calls within a session
    /// are limited by [`Server::at_once`](crate::server::Server::at_once). Work
    /// that goes on when its client has left has its place still.
    pub max_requests: usize,
    /// About how many bytes all requests may have together that are read or
    /// worked on, in sessions or not: 256 MiB. Others are refused. A request has
    /// those of its head and of its body, and for each value in the body as many
    /// as that takes when it is read, which is more than small ones have there.
    pub max_request_bytes: usize,
    /// How much one client may have of all this.
    pub client_limits: ClientLimits,
    /// How clients are told apart that have no [`Principal`](super::Principal):
    /// by the other end of the connection, unless given.
    pub peer_source: PeerSource,
    /// How many sessions of the older revisions may be open: 10,000. When there
    /// are more, one that was never initialised, or is idle, is closed in favour
    /// of the new one; see [`ClientLimits`]. What a client opens one with may
    /// have 64 KiB.
    pub max_sessions: usize,
    /// About how many bytes sessions may keep together, of what their clients
    /// said of themselves, of what they watch, and of notices that nobody
    /// listens to yet: 256 MiB. Beyond that, too, sessions are closed.
    pub max_session_bytes: usize,
    /// After how long without a request or an open connection a session is
    /// closed whose client did not say that it is initialised: one minute.
    pub uninitialized_timeout: Duration,
    /// After how long without a request or an open connection a session is
    /// closed, whatever it still works on: half an hour.
    pub idle_timeout: Duration,
    /// How many streams of changes may be open: 10,000. Those that are opened
    /// with a GET, in sessions of the older revisions, are among them.
    pub max_listen_streams: usize,
    /// How long an answer may take before a stream is opened for it, so that
    /// nobody on the way loses patience: ten seconds.
    pub stream_after: Duration,
    /// How often something is sent on a quiet stream: every 15 seconds.
    pub keep_alive_interval: Duration,
    /// How long a client should wait before it comes back to a stream that was
    /// closed: one second.
    pub retry_delay: Duration,
    /// How much of its streams each session keeps for a client that comes back
    /// for what it missed.
    pub replay_limits: EventBufferLimits,
    /// How many bytes all sessions together keep for that: 256 MiB. Streams
    /// that find no room cannot be resumed.
    pub max_replay_bytes: usize,
    /// Where sessions are noted, so that another node or a later run can take
    /// them up. Nowhere unless given.
    pub session_store: Option<Arc<dyn SessionStore>>,
    /// Where events are noted, so that streams can be resumed elsewhere.
    /// Nowhere unless given.
    pub event_store: Option<Arc<dyn EventStore>>,
    /// How long a connection may take to send the head of a request, where we
    /// hold the socket: ten seconds.
    pub header_timeout: Duration,
    /// How long a client may leave its answer or stream unread, where we hold
    /// the socket: half a minute. Then its connection is closed, and what it
    /// held is free. Who takes some of it gets as much more time as
    /// [`min_bytes_per_second`](Self::min_rate) allows for that.
    pub write_timeout: Duration,
    /// The largest head of a request, where we hold the socket: 64 KiB, and
    /// never less than 8.
    pub max_head_bytes: usize,
    /// How many connections are served at once, where we hold the socket:
    /// 10,000. Others wait.
    pub max_connections: usize,
}

/// How much one client may have at once, of what all may have together.
///
/// A client is a [`Principal`](super::Principal), if the request has one: a layer
/// said so, or a token. Otherwise it is the address that it comes from, as
/// [`HttpOptions::peer`] tells; a whole network of 64 bits for version 6 of the
/// protocol. All of these in one network of 48 bits may have twice as much
/// together. Where no address is known either, only what all may have together
/// is limited.
///
/// Behind a reverse proxy, clients without a principal all come from the address
/// of the proxy, and share this. Then say where the proxy writes their addresses,
/// with [`HttpOptions::peer`], and raise `max_connections`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Sessions: 2,500. When a client opens more, one of its own is closed: the
    /// oldest that was never initialised, or the one that was idle for longest.
    pub max_sessions: usize,
    /// About how many bytes its sessions keep: 64 MiB.
    pub max_session_bytes: usize,
    /// Requests that are read, or worked on without a session: 1,024. Others
    /// are refused.
    pub max_requests: usize,
    /// Bytes of requests that are read or worked on, in sessions or not: 64 MiB.
    /// Others are refused.
    pub max_request_bytes: usize,
    /// Bytes that are kept for when it comes back to a stream of a session's:
    /// 64 MiB.
    pub max_replay_bytes: usize,
    /// Streams of changes: 2,500. Others are refused.
    pub max_listen_streams: usize,
    /// Connections, where we hold the socket: 5,000. Others are closed. These
    /// are counted by address alone: nobody has said yet who it is.
    pub max_connections: usize,
}

impl ClientLimits {
    /// No limits but those of all clients together.
    pub const UNLIMITED: Self = Self {
        max_sessions: usize::MAX,
        max_session_bytes: usize::MAX,
        max_requests: usize::MAX,
        max_request_bytes: usize::MAX,
        max_replay_bytes: usize::MAX,
        max_listen_streams: usize::MAX,
        max_connections: usize::MAX,
    };

    /// So many times as much of everything.
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

/// As good as never, and not too much to count with.
const FAR_FUTURE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl HttpOptions {
    /// The same with times that can be added to the clock's, however long those
    /// are meant to be.
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
