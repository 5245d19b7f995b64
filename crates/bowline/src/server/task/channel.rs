//! The channel of a handler whose call is a task, or may become one.

use std::sync::{Arc, Mutex};

use crate::{
    proto::{jsonrpc::RawJson, model::LogLevel},
    server::conversation::client_channel::ClientChannel,
    sync,
};

/// Leads to the client until the call becomes a task. From then on, what a task
/// reports is kept for those who ask about it.
#[derive(Clone, Default)]
pub(crate) struct TaskChannel {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    client: Option<Box<ClientChannel>>,
    /// What was reported last.
    status: Option<Box<str>>,
}

impl TaskChannel {
    /// Creates the channel of a call that is not a task yet.
    pub(super) fn connected(client: ClientChannel) -> Self {
        let shared = Shared {
            client: Some(Box::new(client)),
            status: None,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Ends the connection to the client: the call has become a task.
    pub(super) fn disconnect(&self) {
        sync::lock(&self.shared).client = None;
    }

    /// Reports progress. Of a task, only the message is kept. Returns whether it
    /// reaches anyone.
    pub(crate) fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        let mut shared = sync::lock(&self.shared);
        match &shared.client {
            Some(client) => client.progress(progress, total, message),
            None => {
                let status = message.map(Into::into);
                shared.status = status.or(shared.status.take());
                message.is_some()
            }
        }
    }

    /// Sends a log message, unless the call is a task.
    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let shared = sync::lock(&self.shared);
        let client = shared.client.as_ref();
        client.is_some_and(|client| client.log(level, logger, data))
    }

    /// Takes what was reported last and not taken yet.
    pub(super) fn take_status(&self) -> Option<Box<str>> {
        sync::lock(&self.shared).status.take()
    }
}
