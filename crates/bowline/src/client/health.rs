//! How a connection is doing.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::Error;
use crate::proto::client::{
    ConnectionError, ConnectionErrorKind, ConnectionState, Failure, ServerInfo,
};

/// How a connection is doing, as of now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// The state it is in.
    pub state: ConnectionState,
    /// How many sessions it has had.
    pub sessions: u64,
    /// The server of the latest session.
    pub server: Option<Arc<ServerInfo>>,
    /// Why it fell last, if it ever did.
    pub last_disconnect: Option<ConnectionError>,
    /// When it fell last, by the clock on the wall: for people, who want to
    /// know whether that was today.
    pub last_disconnect_at: Option<SystemTime>,
    /// How often in a row it fell or did not come up. Attempts that taught how
    /// to do better, and were followed by the next at once, do not count.
    pub consecutive_failures: u32,
    /// Whether it is over for good.
    pub ended: bool,
    /// Whether it is over because it fell too often, rather than because it
    /// was stopped.
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

    /// It fell, and is dialled again after a while, or never.
    pub(crate) fn disconnected(&mut self, cause: ConnectionError, retry_in: Option<Duration>) {
        self.last_disconnect = Some(cause);
        self.last_disconnect_at = Some(SystemTime::now());
        if retry_in != Some(Duration::ZERO) {
            self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        }
        self.ended = retry_in.is_none();
        self.gave_up = self.ended;
    }

    /// Why it fell last, and when.
    pub(crate) fn last_error(&self) -> Option<(ConnectionError, SystemTime)> {
        self.last_disconnect.clone().zip(self.last_disconnect_at)
    }

    /// Why no session is open, for somebody who has waited for so long.
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
