//! The way back to the client that waits.

use std::time::Duration;

use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{InputRequest, LogLevel},
        server::Outcome,
    },
    transport::BoxFuture,
};

/// How a handler reaches the client whose request it works on. Each says
/// whether the client is told.
pub(crate) trait Voice: Send + Sync {
    /// How far the work has come.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool;

    /// A log message.
    fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool;

    /// Closes the stream that the client waits on; it comes back for the rest.
    fn pause(&self) -> bool {
        false
    }

    /// A question, where servers may ask.
    fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> BoxFuture<'_, Outcome>;
}
