//! The way back to the client that waits.

use std::time::Duration;

use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{InputRequest, LogLevel, Number},
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

/// A number as people write it: whole ones without a point.
pub(crate) fn number(value: f64) -> Number {
    // Beyond this, a whole number may not be one in the first place.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number of this size fits"
        )]
        return Number::from(value as i64);
    }
    Number::from(value)
}
