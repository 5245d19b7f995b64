//! A handler's way back to the client of a connection.

use std::{sync::Arc, time::Duration};

use super::Shared;
use crate::proto::{
    jsonrpc::RawJson,
    model::{InputRequest, LogLevel, Number},
    server::{CallOptions, Failure, Incoming, Outcome},
};

/// The line to the client that made one request.
pub(crate) struct Line {
    pub(super) shared: Arc<Shared>,
    pub(super) request: Incoming,
}

impl Line {
    pub(crate) fn progress(
        &self,
        progress: Number,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        self.shared.tell(self.request, |machine| {
            machine.progress(self.request, progress, total, message)
        })
    }

    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let request = self.request;
        self.shared.tell(request, move |machine| {
            machine.log(Some(request), &level, logger, data)
        })
    }

    pub(crate) fn pause(&self) -> bool {
        self.shared.pause(self.request)
    }

    pub(crate) async fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> Outcome {
        let options = CallOptions {
            timeout,
            parent: Some(self.request),
        };
        let Some(mut asked) = self.shared.ask(question, &options) else {
            return Outcome::Failed(Failure::Closed);
        };
        let outcome = (&mut asked.outcome).await;
        asked.ended = true;
        outcome.unwrap_or(Outcome::Failed(Failure::Closed))
    }
}
