//! What can go wrong, as a caller sees it.

use std::fmt;

use super::page_tracker::IncompleteList;
use crate::proto::{
    ErrorKind, Reason,
    client::{ConnectionError, ConnectionErrorKind, Failure},
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
    repr: ErrorRepr,
    /// Why the connection fell last, where it being down is what is wrong.
    last_disconnect: Option<ConnectionError>,
}

enum ErrorRepr {
    /// There is no answer.
    Failed(Failure),
    /// The server refused.
    ErrorResponse(ErrorObject, Reason),
    /// The answer does not have the shape of what was asked for.
    Decode(DecodeError),
    /// What was asked for could not be written as JSON.
    Encode(EncodeError),
    /// The tool ran and failed, and says so in its result.
    Tool(String),
    /// A list was not followed to its end.
    IncompleteList(IncompleteList),
    /// The connection did not come up.
    NotConnected {
        cause: ConnectionError,
        /// Whether it never will.
        is_permanent: bool,
    },
}

impl Error {
    pub(crate) fn failed(operation: &str, failure: Failure) -> Self {
        Self::new(operation, ErrorRepr::Failed(failure))
    }

    pub(crate) fn error_response(operation: &str, error: ErrorObject) -> Self {
        let reason = Reason::from_error(&error, operation);
        Self::new(operation, ErrorRepr::ErrorResponse(error, reason))
    }

    pub(crate) fn decode(operation: &str, error: DecodeError) -> Self {
        Self::new(operation, ErrorRepr::Decode(error))
    }

    pub(crate) fn encode(operation: &str, error: EncodeError) -> Self {
        Self::new(operation, ErrorRepr::Encode(error))
    }

    pub(crate) fn tool_failed(text: String) -> Self {
        Self::new("tools/call", ErrorRepr::Tool(text))
    }

    pub(crate) fn incomplete_list(operation: &str, reason: IncompleteList) -> Self {
        Self::new(operation, ErrorRepr::IncompleteList(reason))
    }

    pub(crate) fn not_connected(cause: ConnectionError) -> Self {
        Self::new(
            "connect",
            ErrorRepr::NotConnected {
                cause,
                is_permanent: false,
            },
        )
    }

    /// The connection did not come up, and will not.
    pub(crate) fn gave_up(cause: ConnectionError) -> Self {
        Self::new(
            "connect",
            ErrorRepr::NotConnected {
                cause,
                is_permanent: true,
            },
        )
    }

    /// Adds why the connection is down, if that is what is wrong.
    pub(crate) fn with_last_disconnect(mut self, last_disconnect: Option<ConnectionError>) -> Self {
        if let ErrorRepr::Failed(Failure::NotReady { .. }) = self.inner.repr {
            self.inner.last_disconnect = last_disconnect;
        }
        self
    }

    fn new(operation: &str, repr: ErrorRepr) -> Self {
        Self {
            inner: Box::new(Inner {
                operation: operation.into(),
                repr,
                last_disconnect: None,
            }),
        }
    }

    /// Who or what is to blame.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => failure.kind(),
            ErrorRepr::ErrorResponse(..) | ErrorRepr::Tool(_) => ErrorKind::JsonRpc,
            ErrorRepr::Decode(_) => ErrorKind::Protocol,
            ErrorRepr::IncompleteList(reason) => reason.kind(),
            ErrorRepr::Encode(_) => ErrorKind::Usage,
            ErrorRepr::NotConnected { .. } => ErrorKind::Transport,
        }
    }

    /// What happened.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => failure.reason(),
            ErrorRepr::ErrorResponse(_, reason) => *reason,
            ErrorRepr::Decode(_) => Reason::InvalidResponse,
            ErrorRepr::IncompleteList(why) => why.reason(),
            ErrorRepr::Encode(_) => Reason::InvalidParams,
            ErrorRepr::Tool(_) => Reason::ToolExecutionFailed,
            ErrorRepr::NotConnected { .. } => Reason::ConnectionClosed,
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
    pub fn data(&self) -> Option<&RawJson> {
        self.server_error().and_then(|error| error.data.as_ref())
    }

    /// The server's own error, verbatim, where it refused.
    #[must_use]
    pub fn server_error(&self) -> Option<&ErrorObject> {
        match &self.inner.repr {
            ErrorRepr::ErrorResponse(error, _) => Some(error),
            _ => None,
        }
    }

    /// Why the connection fell, where that is why the operation failed.
    #[must_use]
    pub fn connection_error(&self) -> Option<&ConnectionError> {
        match &self.inner.repr {
            ErrorRepr::Failed(
                Failure::ConnectionLost(cause)
                | Failure::NotDelivered(cause)
                | Failure::GaveUp(cause),
            )
            | ErrorRepr::NotConnected { cause, .. } => Some(cause),
            _ => self.inner.last_disconnect.as_ref(),
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
        let kind = self.connection_error().map(ConnectionError::kind);
        matches!(
            kind,
            Some(
                ConnectionErrorKind::Unauthorized(_)
                    | ConnectionErrorKind::Status {
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
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => failure.is_retryable(),
            ErrorRepr::NotConnected { is_permanent, .. } => {
                !is_permanent && !self.is_unauthorized()
            }
            ErrorRepr::IncompleteList(reason) => reason.kind() == ErrorKind::Timeout,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = &self.inner.operation;
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => {
                write!(f, "{operation}: {failure}")?;
                match &self.inner.last_disconnect {
                    Some(cause) => write!(f, "; it fell: {cause}"),
                    None => Ok(()),
                }
            }
            ErrorRepr::ErrorResponse(error, _) => {
                write!(f, "{operation}: the server refused: {error}")
            }
            ErrorRepr::Decode(error) => {
                write!(f, "{operation}: the answer does not fit: {error}")
            }
            ErrorRepr::Encode(error) => write!(f, "{operation}: {error}"),
            ErrorRepr::Tool(text) => write!(f, "the tool failed: {text}"),
            ErrorRepr::IncompleteList(reason) => write!(f, "{operation}: {reason}"),
            ErrorRepr::NotConnected { cause, .. } => write!(f, "not connected: {cause}"),
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
