//! What can go wrong, as a caller sees it.

use std::fmt;

use crate::proto::{
    ErrorKind, Reason,
    client::{Cause, CauseKind, Failure},
    jsonrpc::{DecodeError, EncodeError, ErrorObject},
};

/// Why an operation did not succeed.
///
/// [`kind`](Self::kind) says who is to blame, [`reason`](Self::reason) what
/// happened; predicates such as [`is_timeout`](Self::is_timeout) cover what
/// most callers ask.
///
/// Displayed, it says what was attempted and why it failed, with the server's
/// last words where it died.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    operation: Box<str>,
    what: What,
    /// Why the connection fell last, where it being down is what is wrong.
    fall: Option<Cause>,
}

enum What {
    /// There is no answer.
    Failed(Failure),
    /// The server refused.
    Refused(ErrorObject, Reason),
    /// The answer does not have the shape of what was asked for.
    Undecodable(DecodeError),
    /// What was asked for could not be written as JSON.
    Unencodable(EncodeError),
    /// The tool ran and failed, and says so in its result.
    Tool(String),
    /// The same page again and again.
    CursorLoop,
    /// The connection did not come up.
    NotConnected(Cause),
}

impl Error {
    pub(crate) fn failed(operation: &str, failure: Failure) -> Self {
        Self::new(operation, What::Failed(failure))
    }

    pub(crate) fn refused(operation: &str, error: ErrorObject) -> Self {
        let reason = Reason::of(&error, operation);
        Self::new(operation, What::Refused(error, reason))
    }

    pub(crate) fn undecodable(operation: &str, error: DecodeError) -> Self {
        Self::new(operation, What::Undecodable(error))
    }

    pub(crate) fn unencodable(operation: &str, error: EncodeError) -> Self {
        Self::new(operation, What::Unencodable(error))
    }

    pub(crate) fn tool_failed(text: String) -> Self {
        Self::new("tools/call", What::Tool(text))
    }

    pub(crate) fn cursor_loop(operation: &str) -> Self {
        Self::new(operation, What::CursorLoop)
    }

    pub(crate) fn not_connected(cause: Cause) -> Self {
        Self::new("connect", What::NotConnected(cause))
    }

    /// Adds why the connection is down, if that is what is wrong.
    pub(crate) fn after_fall(mut self, fall: Option<Cause>) -> Self {
        if let What::Failed(Failure::NotReady { .. }) = self.inner.what {
            self.inner.fall = fall;
        }
        self
    }

    fn new(operation: &str, what: What) -> Self {
        Self {
            inner: Box::new(Inner {
                operation: operation.into(),
                what,
                fall: None,
            }),
        }
    }

    /// Who or what is to blame.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.inner.what {
            What::Failed(failure) => failure.kind(),
            What::Refused(..) | What::Tool(_) => ErrorKind::JsonRpc,
            What::Undecodable(_) | What::CursorLoop => ErrorKind::Protocol,
            What::Unencodable(_) => ErrorKind::State,
            What::NotConnected(_) => ErrorKind::Transport,
        }
    }

    /// What happened.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match &self.inner.what {
            What::Failed(failure) => failure.reason(),
            What::Refused(_, reason) => *reason,
            What::Undecodable(_) | What::CursorLoop => Reason::InvalidResponse,
            What::Unencodable(_) => Reason::InvalidParams,
            What::Tool(_) => Reason::ToolExecutionFailed,
            What::NotConnected(_) => Reason::ConnectionClosed,
        }
    }

    /// What was attempted: the method.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.inner.operation
    }

    /// The server's own error, verbatim, where it refused.
    #[must_use]
    pub fn server_error(&self) -> Option<&ErrorObject> {
        match &self.inner.what {
            What::Refused(error, _) => Some(error),
            _ => None,
        }
    }

    /// Why the connection fell, where that is why the operation failed.
    #[must_use]
    pub fn cause(&self) -> Option<&Cause> {
        match &self.inner.what {
            What::Failed(Failure::ConnectionLost(cause) | Failure::Undelivered(cause))
            | What::NotConnected(cause) => Some(cause),
            _ => self.inner.fall.as_ref(),
        }
    }

    /// Whether it took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }

    /// Whether the connection was lost, or was not there.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        matches!(self.kind(), ErrorKind::Transport | ErrorKind::State)
    }

    /// Whether the server does not let us in: there are no credentials to be
    /// had, or it refuses those that were sent (HTTP 401 and 403).
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        let kind = self.cause().map(Cause::kind);
        matches!(
            kind,
            Some(
                CauseKind::Unauthorized(_)
                    | CauseKind::Status {
                        status: 401 | 403,
                        ..
                    }
            )
        )
    }

    /// Whether the same call may succeed later. Says nothing about whether it
    /// is harmless to repeat.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match &self.inner.what {
            What::Failed(failure) => failure.is_retryable(),
            What::NotConnected(_) => !self.is_unauthorized(),
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = &self.inner.operation;
        match &self.inner.what {
            What::Failed(failure) => {
                write!(f, "{operation}: {failure}")?;
                match &self.inner.fall {
                    Some(cause) => write!(f, "; it fell: {cause}"),
                    None => Ok(()),
                }
            }
            What::Refused(error, _) => write!(f, "{operation}: the server refused: {error}"),
            What::Undecodable(error) => {
                write!(f, "{operation}: the answer does not fit: {error}")
            }
            What::Unencodable(error) => write!(f, "{operation}: {error}"),
            What::Tool(text) => write!(f, "the tool failed: {text}"),
            What::CursorLoop => {
                write!(f, "{operation}: the server's pages lead back to each other")
            }
            What::NotConnected(cause) => write!(f, "not connected: {cause}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("reason", &self.reason())
            .field("message", &self.to_string())
            .finish()
    }
}

impl std::error::Error for Error {}
