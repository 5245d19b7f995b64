//! Why a connection fell.

use std::{fmt, sync::Arc, time::Duration};

use super::RestartLimit;
use crate::jsonrpc::ErrorObject;

/// Why a connection fell, or did not come up.
///
/// Cheap to clone: one cause is given to every call that it ends.
///
/// ```
/// use bowline_proto::client::{Cause, CauseKind};
///
/// let cause = Cause::new(CauseKind::Exited { code: Some(1), signal: None })
///     .with_tail("Error: DATABASE_URL is not set");
/// assert_eq!(
///     cause.to_string(),
///     "the server process exited with code 1; its last words: Error: DATABASE_URL is not set",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionError(Arc<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ConnectionErrorKind,
    detail: Option<String>,
}

/// The kinds of end that a connection can come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionErrorKind {
    /// The peer closed the link in good order.
    Eof,
    /// The server process ended.
    Exited {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// The server could not be started or reached.
    Unreachable(String),
    /// Reading or writing failed.
    Io(String),
    /// HTTP: a status that ends the connection or the attempt.
    Status {
        /// The status code.
        status: u16,
        /// What `Retry-After` asked for.
        retry_after: Option<Duration>,
    },
    /// HTTP: the server wants credentials, and there are none that would do.
    Unauthorized(String),
    /// HTTP: the server no longer knows our session.
    SessionNotFound,
    /// A frame over the limit.
    OversizedFrame {
        /// How large it was when it was abandoned.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The session was not open in time.
    OpeningTimeout(Duration),
    /// The peer speaks no revision that we may speak.
    UnsupportedVersion {
        /// What the peer offered.
        offered: Vec<String>,
    },
    /// The peer refused to open a session.
    Refused(ErrorObject),
    /// The peer broke the protocol in a way that cannot be tolerated.
    ProtocolViolation(String),
    /// The peer came back speaking another era than before.
    EraChanged,
    /// Sessions fell more often than
    /// [allowed](super::Config::max_restarts), and the connection was given
    /// up.
    TooManyRestarts {
        /// How many restarts were allowed.
        restarts: u32,
        /// Within which time.
        period: Duration,
        /// Why the last session fell.
        last: ConnectionError,
    },
}

impl ConnectionError {
    /// A cause of this kind.
    #[must_use]
    pub fn new(kind: ConnectionErrorKind) -> Self {
        Self(Arc::new(Inner { kind, detail: None }))
    }

    pub(super) fn too_many_restarts(limit: RestartLimit, last: Self) -> Self {
        Self::new(ConnectionErrorKind::TooManyRestarts {
            restarts: limit.max_restarts,
            period: limit.period,
            last,
        })
    }

    /// The same cause with the peer's last words: the tail of its stderr.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind: self.0.kind.clone(),
            detail: Some(detail.into()),
        }))
    }

    /// What kind of end it was.
    #[must_use]
    pub fn kind(&self) -> &ConnectionErrorKind {
        &self.0.kind
    }

    /// How long the server asked to be left alone, if it did.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.0.kind {
            ConnectionErrorKind::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The last lines that the server wrote to stderr, if any were kept, or
    /// what it said with a status of HTTP.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match &self.0.kind {
            ConnectionErrorKind::TooManyRestarts { last, .. } => last.detail(),
            _ => self.0.detail.as_deref(),
        }
    }
}

impl From<ConnectionErrorKind> for ConnectionError {
    fn from(kind: ConnectionErrorKind) -> Self {
        Self::new(kind)
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)?;
        match &self.0.detail {
            Some(detail) if matches!(self.0.kind, ConnectionErrorKind::Status { .. }) => {
                write!(f, ": {}", detail.trim_end())
            }
            Some(detail) => write!(f, "; its last words: {}", detail.trim_end()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ConnectionErrorKind {
    // tidy: long table, one sentence for each kind
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eof => f.write_str("the server closed the connection"),
            Self::Exited {
                code: Some(code), ..
            } => {
                write!(f, "the server process exited with code {code}")
            }
            Self::Exited {
                signal: Some(signal),
                ..
            } => {
                write!(f, "the server process was ended by signal {signal}")
            }
            Self::Exited { .. } => f.write_str("the server process ended"),
            Self::Unreachable(message) => write!(f, "the server could not be reached: {message}"),
            Self::Io(message) => write!(f, "the connection failed: {message}"),
            Self::Status { status, .. } => write!(f, "the server answered with HTTP {status}"),
            Self::Unauthorized(message) => write!(f, "not authorized: {message}"),
            Self::SessionNotFound => f.write_str("the server no longer knows the session"),
            Self::OversizedFrame { size, limit } => {
                write!(
                    f,
                    "a frame of at least {size} bytes is over the limit of {limit}"
                )
            }
            Self::OpeningTimeout(after) => {
                write!(
                    f,
                    "the session was not open after {after:?} (a server that downloads or \
                     prepares something first needs a longer opening timeout)"
                )
            }
            Self::UnsupportedVersion { offered } if offered.is_empty() => {
                f.write_str("the server speaks no protocol version that is allowed here")
            }
            Self::UnsupportedVersion { offered } => {
                write!(
                    f,
                    "no common protocol version; the server offers {}",
                    offered.join(", ")
                )
            }
            Self::Refused(error) => write!(f, "the server refused the session: {error}"),
            Self::ProtocolViolation(message) => {
                write!(f, "the server broke the protocol: {message}")
            }
            Self::EraChanged => {
                f.write_str("the server came back speaking another era of the protocol")
            }
            Self::TooManyRestarts {
                restarts,
                period,
                last,
            } => {
                write!(
                    f,
                    "the session fell again after {restarts} restarts within {period:?}, \
                     which is the limit; the last time: {last}"
                )
            }
        }
    }
}

impl std::error::Error for ConnectionError {}
