//! How HTTP is served, with defaults that hold.

use std::time::Duration;

use crate::proto::http::OriginPolicy;

/// How HTTP is served.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Which hosts and web pages may talk to the server: those of this machine
    /// unless given. A server behind a proxy names its own host here.
    pub origins: OriginPolicy,
    /// Whether browsers are told that pages of allowed origins may call the
    /// server. Not unless given.
    pub cors: bool,
    /// The largest body of a request: 4 MiB.
    pub max_body: usize,
    /// How long a request's body may take to arrive: half a minute.
    pub body_time: Duration,
    /// How many sessions of the older revisions may be open: 10,000.
    pub sessions: usize,
    /// After how long without a request a session is closed: half an hour.
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
    /// How long a connection may take to send the head of a request, where we
    /// hold the socket: ten seconds.
    pub header_time: Duration,
    /// How many connections are served at once, where we hold the socket:
    /// 10,000. Others wait.
    pub connections: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            origins: OriginPolicy::loopback(),
            cors: false,
            max_body: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            sessions: 10_000,
            idle: Duration::from_secs(30 * 60),
            listens: 10_000,
            patience: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            header_time: Duration::from_secs(10),
            connections: 10_000,
        }
    }
}
