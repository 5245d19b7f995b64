//! Connection errors: why a connection was lost or could not be opened.

use std::{fmt, sync::Arc, time::Duration};

use super::RestartLimit;
use crate::jsonrpc::ErrorObject;

/// Why a connection was lost or could not be opened.
///
/// Cheap to clone: every call that it ends gets a copy.
///
/// ```
/// use bowline_proto::client::{ConnectionError, ConnectionErrorKind};
///
/// let error = ConnectionError::new(ConnectionErrorKind::Exited { code: Some(1), signal: None })
///     .with_detail("Error: DATABASE_URL is not set");
/// assert_eq!(
///     error.to_string(),
///     "the server process exited with code 1; last stderr output: Error: DATABASE_URL is not set",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionError(Arc<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ConnectionErrorKind,
    detail: Option<String>,
    server_error: Option<ErrorObject>,
}

/// The kinds of connection errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionErrorKind {
    /// The peer closed the link cleanly.
    Eof,
    /// The server process exited.
    Exited {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that terminated it.
        signal: Option<i32>,
    },
    /// The server could not be started or reached.
    Unreachable(String),
    /// Reading or writing failed.
    Io(String),
    /// HTTP: an error status that ends the connection or the attempt.
    Status {
        /// The status code.
        status: u16,
        /// The value of `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// HTTP: the server requires credentials, and no valid ones are available.
    Unauthorized(String),
    /// HTTP: the server no longer knows our session.
    SessionNotFound,
    /// A frame exceeded the size limit.
    OversizedFrame {
        /// Its size in bytes when it was discarded.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The session did not open in time.
    OpeningTimeout(Duration),
    /// The peer supports no revision that this client allows.
    UnsupportedVersion {
        /// The versions the peer offered.
        offered: Vec<String>,
    },
    /// The peer refused to open a session.
    Refused(ErrorObject),
    /// The peer violated the protocol in a way that cannot be tolerated.
    ProtocolViolation(String),
    /// The peer speaks a different era after a reconnection.
    EraChanged,
    /// Sessions were lost more often than [allowed](super::Config::restart_limit), and
    /// the connection gave up.
    TooManyRestarts {
        /// The maximum number of restarts.
        restarts: u32,
        /// The period in which they are counted.
        period: Duration,
        /// Why the last session was lost.
        last: ConnectionError,
    },
}

impl ConnectionError {
    /// Creates an error of this kind.
    #[must_use]
    pub fn new(kind: ConnectionErrorKind) -> Self {
        Self(Arc::new(Inner {
            kind,
            detail: None,
            server_error: None,
        }))
    }

    pub(super) fn too_many_restarts(limit: RestartLimit, last: Self) -> Self {
        Self::new(ConnectionErrorKind::TooManyRestarts {
            restarts: limit.max_restarts,
            period: limit.period,
            last,
        })
    }

    /// Adds detail from the peer: the tail of its stderr, or the text of an HTTP error.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            detail: Some(detail.into()),
            ..Inner::clone(&self.0)
        }))
    }

    /// Adds the JSON-RPC error that the server sent with an HTTP error status.
    pub(super) fn with_server_error(self, error: ErrorObject) -> Self {
        Self(Arc::new(Inner {
            server_error: Some(error),
            ..Inner::clone(&self.0)
        }))
    }

    /// Returns the kind of this error.
    #[must_use]
    pub fn kind(&self) -> &ConnectionErrorKind {
        &self.0.kind
    }

    /// Returns the delay the server asked for, if any.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.0.kind {
            ConnectionErrorKind::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns the JSON-RPC error that the server sent with an HTTP error status, if it
    /// did.
    #[must_use]
    pub fn server_error(&self) -> Option<&ErrorObject> {
        self.0.server_error.as_ref()
    }

    /// Returns the last lines the server wrote to stderr, or the text it sent with an
    /// HTTP error status, if available.
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

/// With `{:#}`, followed by the [source](std::error::Error::source), if there is one.
impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)?;
        match &self.0.detail {
            Some(detail) if matches!(self.0.kind, ConnectionErrorKind::Status { .. }) => {
                write!(f, ": {}", detail.trim_end())?;
            }
            Some(detail) => write!(f, "; last stderr output: {}", detail.trim_end())?,
            None => {}
        }
        match &self.0.kind {
            ConnectionErrorKind::TooManyRestarts { last, .. } if f.alternate() => {
                write!(f, ": {last:#}")
            }
            _ => Ok(()),
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
                write!(f, "the server process was terminated by signal {signal}")
            }
            Self::Exited { .. } => f.write_str("the server process exited"),
            Self::Unreachable(message) => write!(f, "the server could not be reached: {message}"),
            Self::Io(message) => write!(f, "the connection failed: {message}"),
            Self::Status { status, .. } => write!(f, "the server answered with HTTP {status}"),
            Self::Unauthorized(message) => write!(f, "not authorized: {message}"),
            Self::SessionNotFound => {
                f.write_str("session not found on the server (it may have expired)")
            }
            Self::OversizedFrame { size, limit } => {
                write!(
                    f,
                    "a frame of at least {size} bytes exceeds the limit of {limit} bytes"
                )
            }
            Self::OpeningTimeout(after) => {
                write!(
                    f,
                    "timed out after {after:?} while opening the session (a server that downloads or \
                     prepares something first needs a longer opening timeout)"
                )
            }
            Self::UnsupportedVersion { offered } if offered.is_empty() => {
                f.write_str("the server supports no protocol version that this client allows")
            }
            Self::UnsupportedVersion { offered } => {
                write!(
                    f,
                    "no common protocol version; the server supports {}",
                    offered.join(", ")
                )
            }
            Self::Refused(error) => write!(f, "the server refused to open a session: {error}"),
            Self::ProtocolViolation(message) => {
                write!(f, "the server violated the protocol: {message}")
            }
            Self::EraChanged => {
                f.write_str("the server speaks another era of the protocol after reconnecting")
            }
            Self::TooManyRestarts {
                restarts, period, ..
            } => {
                write!(
                    f,
                    "the session was lost again after {restarts} restarts within {period:?}, \
                     which is the limit"
                )
            }
        }
    }
}

impl std::error::Error for ConnectionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ConnectionErrorKind::TooManyRestarts { last, .. } => Some(last),
            _ => None,
        }
    }
}
