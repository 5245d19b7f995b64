//! Log messages that a server sends to its client.

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
    /// Known levels are ordered by severity; one that this crate does not know
    /// compares with none but itself.
    ///
    /// ```
    /// use bowline_proto::model::LogLevel;
    ///
    /// assert!(LogLevel::Error > LogLevel::Info);
    /// assert!(!(LogLevel::from("loud") > LogLevel::Info));
    /// ```
    pub enum LogLevel {
        /// For those who debug.
        Debug = "debug",
        /// In the normal course of things.
        Info = "info",
        /// Normal, but worth a look.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part failed.
        Critical = "critical",
        /// Act at once.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

impl LogLevel {
    /// The known levels, the least severe first.
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
    /// Says from which severity on log messages are wanted.
    pub struct SetLevelParams {
        /// The least severity.
        level: LogLevel = required "level",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SetLevelParams = method::LOGGING_SET_LEVEL => EmptyResult);

object! {
    /// A log message.
    pub struct LoggingMessageParams {
        /// Its severity.
        level: LogLevel = required "level",
        /// The part of the server that speaks.
        logger: Option<String> = optional "logger",
        /// What there is to say: a text or any other JSON value.
        data: RawJson = required "data",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(LoggingMessageParams = method::MESSAGE);
