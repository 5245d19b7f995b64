//! The way back to the client that waits.

use std::time::Duration;

#[cfg(feature = "http-server")]
use crate::server::http::StreamChannel;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{InputRequest, LogLevel, Number},
        server::Outcome,
    },
    server::serve::ConnectionChannel,
};

/// How a handler reaches the client whose request it works on. Each method
/// says whether the client is told.
///
/// It is no trait object: a table of its methods would tie all of them, and all
/// that can be asked, to servers whose handlers never say a word.
pub(crate) enum ClientChannel {
    /// Over a connection.
    Connection(ConnectionChannel),
    /// Beside the answer to a request over HTTP.
    #[cfg(feature = "http-server")]
    Stream(Box<StreamChannel>),
}

impl ClientChannel {
    /// How far the work has come.
    pub(crate) fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        let (progress, total) = (to_number(progress), total.map(to_number));
        match self {
            Self::Connection(channel) => channel.progress(progress, total, message),
            #[cfg(feature = "http-server")]
            Self::Stream(stream) => stream.progress(progress, total, message),
        }
    }

    /// A log message.
    pub(super) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        match self {
            Self::Connection(channel) => channel.log(level, logger, data),
            #[cfg(feature = "http-server")]
            Self::Stream(stream) => stream.log(level, logger, data),
        }
    }

    /// Closes the stream that the client waits on; it comes back for the rest.
    pub(super) fn release_connection(&self) -> bool {
        match self {
            Self::Connection(channel) => channel.release_connection(),
            #[cfg(feature = "http-server")]
            Self::Stream(_) => false,
        }
    }

    /// A question, where servers may ask.
    pub(super) async fn ask(&self, question: InputRequest, timeout: Option<Duration>) -> Outcome {
        match self {
            Self::Connection(channel) => channel.ask(question, timeout).await,
            #[cfg(feature = "http-server")]
            Self::Stream(_) => Outcome::Failed(crate::proto::server::Failure::NotSupportedInEra),
        }
    }
}

/// A number as people write it: whole ones without a point.
fn to_number(value: f64) -> Number {
    // Beyond this, a whole number may not be one in the first place.
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number of this size fits"
        )]
        return Number::from(value as i64);
    }
    Number::from(value)
}
