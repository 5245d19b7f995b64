//! Limits of an event stream.

use std::{fmt, time::Duration};

/// The limits of an event stream for its decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    /// The size of the value of one line, in bytes. The default is 16 MiB,
    /// which is also the default limit of a message.
    pub max_line: usize,
    /// The size of the data of one event, in bytes. The default is 16 MiB.
    pub max_event: usize,
    /// The length of an id or an event's name, in bytes. The default is 1 KiB:
    /// ids are sent back in headers.
    pub max_name: usize,
    /// The cap for `retry`. The default is one hour.
    pub max_retry: Duration,
    /// The number of bytes between two events that are not data: comments,
    /// unknown fields, empty lines. They take no memory, so by default there is
    /// no limit.
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

/// The limit that a stream exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseError {
    /// The size of a line.
    LineTooLong,
    /// The size of an event's data.
    EventTooLarge,
    /// The length of an id or a name.
    NameTooLong,
    /// The number of bytes that are not data.
    TooMuchOverhead,
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineTooLong => "a line of the event stream exceeds the size limit",
            Self::EventTooLarge => "an event of the stream exceeds the size limit",
            Self::NameTooLong => "an id or name in the event stream exceeds the length limit",
            Self::TooMuchOverhead => {
                "the event stream exceeds the limit of bytes between two events"
            }
        })
    }
}

impl std::error::Error for SseError {}
