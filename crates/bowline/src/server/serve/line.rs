//! A handler's way back to the client of a connection.

use std::{sync::Arc, time::Duration};

use super::Shared;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{InputRequest, LogLevel},
        server::{CallOptions, Failure, Incoming, Outcome},
    },
    server::talk::voice::{Voice, number},
    transport::BoxFuture,
};

/// The line to the client that made one request.
pub(super) struct Line {
    pub(super) shared: Arc<Shared>,
    pub(super) request: Incoming,
}

impl Voice for Line {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let (progress, total) = (number(progress), total.map(number));
        self.shared.tell(self.request, |machine| {
            machine.progress(self.request, progress, total, message)
        })
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        self.shared.tell(self.request, |machine| {
            machine.log(Some(self.request), &level, logger, data)
        })
    }

    fn pause(&self) -> bool {
        self.shared.pause(self.request)
    }

    fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> BoxFuture<'_, Outcome> {
        let options = CallOptions {
            timeout,
            parent: Some(self.request),
        };
        Box::pin(async move {
            let Some(mut asked) = self.shared.ask(question, &options) else {
                return Outcome::Failed(Failure::Closed);
            };
            let outcome = (&mut asked.outcome).await;
            asked.ended = true;
            outcome.unwrap_or(Outcome::Failed(Failure::Closed))
        })
    }
}
