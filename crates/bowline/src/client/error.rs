//! What can go wrong, as a caller sees it.

use std::fmt;

use super::pages::Unended;
use crate::proto::{
    ErrorKind, Reason,
    client::{Cause, CauseKind, Failure},
    jsonrpc::{DecodeError, EncodeError, ErrorObject, RawJson},
    model::ToolFailure,
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
    /// A list was not followed to its end.
    UnendedList(Unended),
    /// The connection did not come up.
    NotConnected {
        cause: Cause,
        /// Whether it never will.
        over: bool,
    },
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

    pub(crate) fn unended_list(operation: &str, why: Unended) -> Self {
        Self::new(operation, What::UnendedList(why))
    }

    pub(crate) fn not_connected(cause: Cause) -> Self {
        Self::new("connect", What::NotConnected { cause, over: false })
    }

    /// The connection did not come up, and will not.
    pub(crate) fn given_up(cause: Cause) -> Self {
        Self::new("connect", What::NotConnected { cause, over: true })
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
            What::Undecodable(_) => ErrorKind::Protocol,
            What::UnendedList(why) => why.kind(),
            What::Unencodable(_) => ErrorKind::Usage,
            What::NotConnected { .. } => ErrorKind::Transport,
        }
    }

    /// What happened.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match &self.inner.what {
            What::Failed(failure) => failure.reason(),
            What::Refused(_, reason) => *reason,
            What::Undecodable(_) => Reason::InvalidResponse,
            What::UnendedList(why) => why.reason(),
            What::Unencodable(_) => Reason::InvalidParams,
            What::Tool(_) => Reason::ToolExecutionFailed,
            What::NotConnected { .. } => Reason::ConnectionClosed,
        }
    }

    /// What was attempted: the method.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.inner.operation
    }

    /// The code of the server's own error, where it refused.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.server_error().map(|error| error.code)
    }

    /// What the server's own error says beside its message (`data`), where it
    /// refused.
    #[must_use]
    pub fn details(&self) -> Option<&RawJson> {
        self.server_error().and_then(|error| error.data.as_ref())
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
            What::Failed(
                Failure::ConnectionLost(cause)
                | Failure::Undelivered(cause)
                | Failure::GaveUp(cause),
            )
            | What::NotConnected { cause, .. } => Some(cause),
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
        // What is too large to be sent is so on any connection.
        let too_large = self.reason() == Reason::OversizedFrame;
        matches!(self.kind(), ErrorKind::Transport | ErrorKind::State) && !too_large
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
            What::NotConnected { over, .. } => !over && !self.is_unauthorized(),
            What::UnendedList(why) => why.kind() == ErrorKind::Timeout,
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
            What::UnendedList(why) => write!(f, "{operation}: {why}"),
            What::NotConnected { cause, .. } => write!(f, "not connected: {cause}"),
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

/// So that `result.into_result()?` says that the tool failed.
impl From<ToolFailure> for Error {
    fn from(failure: ToolFailure) -> Self {
        Self::tool_failed(failure.result.all_text())
    }
}
