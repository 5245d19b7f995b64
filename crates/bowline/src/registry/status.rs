//! The status of the servers of a registry.

use std::{fmt, time::SystemTime};

use crate::{
    client::Health,
    proto::client::{ConnectionError, ConnectionState},
};

/// The status of one server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server's name.
    pub name: Box<str>,
    /// The status in one word.
    pub summary: ConnectionSummary,
    /// Why its connection was last lost, if it ever was.
    pub last_error: Option<ConnectionError>,
    /// When that happened, in wall-clock time.
    pub last_error_at: Option<SystemTime>,
    /// The number of its cached resources.
    pub cached_resources: usize,
    /// The full health; `None` if the server was not started.
    pub health: Option<Health>,
}

/// The status of a server in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionSummary {
    /// A session is open.
    Connected,
    /// Not started, starting, or stopped.
    Disconnected,
    /// The connection was lost or could not be established, and is not back yet.
    Error,
}

impl ServerStatus {
    pub(super) fn new(
        name: Box<str>,
        health: Option<Health>,
        previous_error: Option<(ConnectionError, SystemTime)>,
        cached_resources: usize,
    ) -> Self {
        let summary = health.as_ref().map_or(
            ConnectionSummary::Disconnected,
            ConnectionSummary::from_health,
        );
        let last = health
            .as_ref()
            .and_then(Health::last_error)
            .or(previous_error);
        let (last_error, last_error_at) = last.unzip();
        Self {
            name,
            summary,
            last_error,
            last_error_at,
            cached_resources,
            health,
        }
    }
}

impl ConnectionSummary {
    /// Summarizes a health.
    #[must_use]
    pub fn from_health(health: &Health) -> Self {
        match health.state {
            ConnectionState::Ready => Self::Connected,
            _ if health.consecutive_failures > 0 => Self::Error,
            _ => Self::Disconnected,
        }
    }
}

impl fmt::Display for ConnectionSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Error => "error",
        })
    }
}
