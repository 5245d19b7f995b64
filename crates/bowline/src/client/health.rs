//! How a connection is doing.

use std::{sync::Arc, time::Duration};

use crate::proto::client::{Cause, Server, StateName};

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
    /// How often in a row it fell or did not come up. Attempts that taught how
    /// to do better, and were followed by the next at once, do not count.
    pub failures: u32,
    /// Whether it is over for good.
    pub ended: bool,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: StateName::Starting,
            sessions: 0,
            server: None,
            last_fall: None,
            failures: 0,
            ended: false,
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
        if retry_in != Some(Duration::ZERO) {
            self.failures = self.failures.saturating_add(1);
        }
        self.ended = retry_in.is_none();
    }
}
