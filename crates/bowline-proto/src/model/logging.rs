//! Log messages from a server to its client.

use std::cmp::Ordering;

use super::{
    EmptyResult, Meta,
    message::{notification, request},
    method,
    object::object,
    open_enum::open_enum,
};
use crate::jsonrpc::RawJson;

open_enum! {
    /// A severity, as in RFC 5424.
    ///
    /// Known levels are ordered by severity; an unknown level compares only
    /// with itself.
    ///
    /// ```
    /// use bowline_proto::model::LogLevel;
    ///
    /// assert!(LogLevel::Error > LogLevel::Info);
    /// assert!(!(LogLevel::from("loud") > LogLevel::Info));
    /// ```
    pub enum LogLevel {
        /// Debugging information.
        Debug = "debug",
        /// Normal operation.
        Info = "info",
        /// Normal, but significant.
        Notice = "notice",
        /// A potential problem.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A component failed.
        Critical = "critical",
        /// Immediate action is required.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

impl LogLevel {
    /// The known levels, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    fn severity(&self) -> Option<usize> {
        Self::ALL.iter().position(|level| level == self)
    }
}

impl PartialOrd for LogLevel {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.severity(), other.severity()) {
            (Some(mine), Some(theirs)) => Some(mine.cmp(&theirs)),
            _ => (self == other).then_some(Ordering::Equal),
        }
    }
}

object! {
    /// Sets the minimum severity of log messages.
    pub struct SetLevelParams {
        /// The minimum severity.
        level: LogLevel = required "level",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SetLevelParams = method::LOGGING_SET_LEVEL => EmptyResult);

object! {
    /// A log message.
    pub struct LoggingMessageParams {
        /// Its severity.
        level: LogLevel = required "level",
        /// The component that sends the message.
        logger: Option<String> = optional "logger",
        /// The content: a string or any other JSON value.
        data: RawJson = required "data",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(LoggingMessageParams = method::MESSAGE);
