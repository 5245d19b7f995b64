//! The channel back to the client that waits for a response.

use std::time::Duration;

#[cfg(feature = "http-server")]
use crate::server::http::StreamChannel;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{InputRequest, LogLevel, Number},
        server::Outcome,
    },
    server::{serve::ConnectionChannel, task::TaskChannel},
};

/// Sends messages to the client whose request a handler works on. Each method
/// returns whether the message was sent.
///
/// This is not a trait object: its vtable would link all methods, and all
/// questions, into servers whose handlers never use them.
pub(crate) enum ClientChannel {
    /// A connection.
    Connection(ConnectionChannel),
    /// The response stream of an HTTP request.
    #[cfg(feature = "http-server")]
    Stream(Box<StreamChannel>),
    /// None: the call is a task.
    Task(TaskChannel),
}

impl ClientChannel {
    /// Sends a progress notification.
    pub(crate) fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        match self {
            Self::Connection(channel) => {
                channel.progress(to_number(progress), total.map(to_number), message)
            }
            #[cfg(feature = "http-server")]
            Self::Stream(stream) => {
                stream.progress(to_number(progress), total.map(to_number), message)
            }
            Self::Task(task) => task.progress(progress, total, message),
        }
    }

    /// Sends a log message.
    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        match self {
            Self::Connection(channel) => channel.log(level, logger, data),
            #[cfg(feature = "http-server")]
            Self::Stream(stream) => stream.log(level, logger, data),
            Self::Task(task) => task.log(level, logger, data),
        }
    }

    /// Closes the stream that the client waits on; it reconnects for the rest.
    pub(super) fn release_connection(&self) -> bool {
        match self {
            Self::Connection(channel) => channel.release_connection(),
            #[cfg(feature = "http-server")]
            Self::Stream(_) => false,
            Self::Task(_) => false,
        }
    }

    /// Asks a question, if servers may ask.
    pub(crate) async fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> Outcome {
        match self {
            Self::Connection(channel) => channel.ask(question, timeout).await,
            #[cfg(feature = "http-server")]
            Self::Stream(_) => Outcome::Failed(crate::proto::server::Failure::NotSupportedInEra),
            Self::Task(_) => Outcome::Failed(crate::proto::server::Failure::NotSupportedInEra),
        }
    }
}

/// Returns a JSON number, written as an integer if it is one.
fn to_number(value: f64) -> Number {
    // Beyond this, a double may not be exact.
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer of this size fits"
        )]
        return Number::from(value as i64);
    }
    Number::from(value)
}
