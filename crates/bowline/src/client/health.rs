//! How a connection is doing.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::Error;
use crate::proto::client::{Cause, CauseKind, Failure, Server, StateName};

/// How a connection is doing, as of now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// The state it is in.
    pub state: StateName,
    /// How many sessions it has had.
    pub sessions: u64,
    /// The server of the latest session.
    pub server: Option<Arc<Server>>,
    /// Why it fell last, if it ever did.
    pub last_fall: Option<Cause>,
    /// When it fell last, by the clock on the wall: for people, who want to
    /// know whether that was today.
    pub last_fall_at: Option<SystemTime>,
    /// How often in a row it fell or did not come up. Attempts that taught how
    /// to do better, and were followed by the next at once, do not count.
    pub failures: u32,
    /// Whether it is over for good.
    pub ended: bool,
    /// Whether it is over because it fell too often, rather than because it
    /// was stopped.
    pub is_given_up: bool,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: StateName::Starting,
            sessions: 0,
            server: None,
            last_fall: None,
            last_fall_at: None,
            failures: 0,
            ended: false,
            is_given_up: false,
        }
    }
}

impl Health {
    pub(crate) fn opened(&mut self, session: u64, server: Option<Server>) {
        self.sessions = session;
        self.server = server.map(Arc::new);
        self.failures = 0;
    }

    /// It fell, and is dialled again after a while, or never.
    pub(crate) fn fell(&mut self, cause: Cause, retry_in: Option<Duration>) {
        self.last_fall = Some(cause);
        self.last_fall_at = Some(SystemTime::now());
        if retry_in != Some(Duration::ZERO) {
            self.failures = self.failures.saturating_add(1);
        }
        self.ended = retry_in.is_none();
        self.is_given_up = self.ended;
    }

    /// Why it fell last, and when.
    pub(crate) fn last_error(&self) -> Option<(Cause, SystemTime)> {
        self.last_fall.clone().zip(self.last_fall_at)
    }

    /// Why no session is open, for somebody who has waited for so long.
    pub(crate) fn not_open(&self, waited: Duration) -> Error {
        let over = self.ended || self.state == StateName::Closing;
        match &self.last_fall {
            Some(cause) if self.is_given_up => Error::given_up(cause.clone()),
            _ if over => Error::failed("connect", Failure::Shutdown),
            Some(cause) => Error::not_connected(cause.clone()),
            None => Error::not_connected(CauseKind::OpeningTimeout(waited).into()),
        }
    }
}
