//! The health of a connection.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::Error;
use crate::proto::client::{
    ConnectionError, ConnectionErrorKind, ConnectionState, Failure, ServerInfo,
};

/// A snapshot of the health of a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// The state of the connection.
    pub state: ConnectionState,
    /// The number of sessions so far.
    pub sessions: u64,
    /// The server of the latest session.
    pub server: Option<Arc<ServerInfo>>,
    /// Why the connection was last lost, if it ever was.
    pub last_disconnect: Option<ConnectionError>,
    /// When the connection was last lost, in wall-clock time, to show to users.
    pub last_disconnect_at: Option<SystemTime>,
    /// How many times in a row the connection was lost or could not be established.
    /// Attempts that only learned how to connect, and were retried immediately, do not
    /// count.
    pub consecutive_failures: u32,
    /// Whether the connection has ended permanently.
    pub ended: bool,
    /// Whether it ended because it failed too often, not because it was stopped.
    pub gave_up: bool,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: ConnectionState::Starting,
            sessions: 0,
            server: None,
            last_disconnect: None,
            last_disconnect_at: None,
            consecutive_failures: 0,
            ended: false,
            gave_up: false,
        }
    }
}

impl Health {
    pub(crate) fn opened(&mut self, session: u64, server: Option<ServerInfo>) {
        self.sessions = session;
        self.server = server.map(Arc::new);
        self.consecutive_failures = 0;
    }

    /// Records a disconnect, with the delay until the next attempt if there will be
    /// one.
    pub(crate) fn disconnected(&mut self, cause: ConnectionError, retry_in: Option<Duration>) {
        self.last_disconnect = Some(cause);
        self.last_disconnect_at = Some(SystemTime::now());
        if retry_in != Some(Duration::ZERO) {
            self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        }
        self.ended = retry_in.is_none();
        self.gave_up = self.ended;
    }

    /// Returns why and when the connection was last lost.
    pub(crate) fn last_error(&self) -> Option<(ConnectionError, SystemTime)> {
        self.last_disconnect.clone().zip(self.last_disconnect_at)
    }

    /// Returns the error for a caller that waited this long without a session.
    pub(crate) fn not_connected_error(&self, waited: Duration) -> Error {
        let is_closed = self.ended || self.state == ConnectionState::Closing;
        match &self.last_disconnect {
            Some(cause) if self.gave_up => Error::gave_up(cause.clone()),
            _ if is_closed => Error::failed("connect", Failure::Shutdown),
            Some(cause) => Error::not_connected(cause.clone()),
            None => Error::not_connected(ConnectionErrorKind::OpeningTimeout(waited).into()),
        }
    }
}
