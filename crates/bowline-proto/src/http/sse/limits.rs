//! How much of a stream is read before it is given up.

use std::{fmt, time::Duration};

/// What a stream may ask of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    /// Bytes in the value of one line. The default is 16 MiB, exactly the
    /// default limit of a message.
    pub max_line: usize,
    /// Bytes of data in one event. The default is 16 MiB.
    pub max_event: usize,
    /// Bytes in an id or an event's name. The default is 1 KiB: ids travel
    /// back in headers.
    pub max_name: usize,
    /// What a longer `retry` is cut to. The default is an hour.
    pub max_retry: Duration,
    /// Bytes between two events that are not data: comments, unknown fields,
    /// empty lines. They cost no memory, so by default there is no limit.
    pub max_overhead: Option<u64>,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self {
            max_line: 16 << 20,
            max_event: 16 << 20,
            max_name: 1 << 10,
            max_retry: Duration::from_secs(60 * 60),
            max_overhead: None,
        }
    }
}

/// Which limit a stream exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseError {
    /// A line.
    LineTooLong,
    /// The data of an event.
    EventTooLarge,
    /// An id or a name.
    NameTooLong,
    /// What is not data.
    TooMuchOverhead,
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineTooLong => "a line of the event stream exceeds the limit",
            Self::EventTooLarge => "an event of the stream exceeds the limit",
            Self::NameTooLong => "an id or name in the event stream exceeds the limit",
            Self::TooMuchOverhead => "the event stream goes on and on without an event",
        })
    }
}

impl std::error::Error for SseError {}
