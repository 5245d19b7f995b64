//! How the servers are doing, in brief.

use std::{fmt, time::SystemTime};

use crate::{
    client::Health,
    proto::client::{ConnectionError, ConnectionState},
};

/// How one server is doing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name.
    pub name: Box<str>,
    /// In a word.
    pub summary: ConnectionSummary,
    /// Why its connection fell last, if it ever did.
    pub last_error: Option<ConnectionError>,
    /// When that was, by the clock on the wall.
    pub last_error_at: Option<SystemTime>,
    /// How many of its resources are remembered.
    pub cached_resources: usize,
    /// The whole story; `None` if it was not started.
    pub health: Option<Health>,
}

/// How a server is doing, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionSummary {
    /// A session is open.
    Connected,
    /// It was not started, is being started, or was stopped.
    Disconnected,
    /// Its connection fell or did not come up, and is not back yet.
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
    /// The word for this health.
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
