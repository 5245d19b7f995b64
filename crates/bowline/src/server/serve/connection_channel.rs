//! The channel from a handler to the client of a connection.

use std::{sync::Arc, time::Duration};

use super::SharedConnection;
use crate::proto::{
    jsonrpc::RawJson,
    model::{InputRequest, LogLevel, Number},
    server::{CallOptions, Failure, Outcome, RequestKey},
};

/// The channel to the client that sent one request.
pub(crate) struct ConnectionChannel {
    pub(super) shared: Arc<SharedConnection>,
    pub(super) request: RequestKey,
}

impl ConnectionChannel {
    pub(crate) fn progress(
        &self,
        progress: Number,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        self.shared.send_optional(self.request, |machine| {
            machine.progress(self.request, progress, total, message)
        })
    }

    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let request = self.request;
        self.shared.send_optional(request, move |machine| {
            machine.log(Some(request), &level, logger, data)
        })
    }

    pub(crate) fn release_connection(&self) -> bool {
        self.shared.release_connection(self.request)
    }

    pub(crate) async fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> Outcome {
        let options = CallOptions {
            timeout,
            parent: Some(self.request),
        };
        let Some(mut pending) = self.shared.ask(question, &options) else {
            return Outcome::Failed(Failure::Closed);
        };
        let outcome = (&mut pending.outcome).await;
        pending.ended = true;
        outcome.unwrap_or(Outcome::Failed(Failure::Closed))
    }
}
