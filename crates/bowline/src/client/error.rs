//! The error type of client operations.

use std::fmt;

use super::page_tracker::IncompleteList;
use crate::proto::{
    ErrorKind, Reason,
    client::{ConnectionError, ConnectionErrorKind, Failure},
    jsonrpc::{DecodeError, EncodeError, ErrorObject, RawJson},
    model::ToolFailure,
};

/// Why an operation failed.
///
/// [`kind`](Self::kind) returns who is responsible, [`reason`](Self::reason) what
/// happened. Predicates such as [`is_timeout`](Self::is_timeout) cover the common
/// questions.
///
/// The `Display` output contains what was attempted and why it failed, with the end of
/// the server's standard error if it died.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    operation: Box<str>,
    repr: ErrorRepr,
    /// Why the connection was last lost, if the failure is that it is down.
    last_disconnect: Option<ConnectionError>,
}

enum ErrorRepr {
    /// No response was received.
    Failed(Failure),
    /// The server returned an error.
    ErrorResponse(ErrorObject, Reason),
    /// The response does not match the type of the request's result.
    Decode(DecodeError),
    /// The parameters could not be serialized to JSON.
    Encode(EncodeError),
    /// The tool ran and reported failure in its result.
    Tool(String),
    /// A paginated list was not read to its end.
    IncompleteList(IncompleteList),
    /// The connection could not be established.
    NotConnected {
        cause: ConnectionError,
        /// Whether the client has given up.
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

    /// The connection could not be established and will not be retried.
    pub(crate) fn gave_up(cause: ConnectionError) -> Self {
        Self::new(
            "connect",
            ErrorRepr::NotConnected {
                cause,
                is_permanent: true,
            },
        )
    }

    /// Adds why the connection is down, if that is the failure.
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

    /// Returns who or what is responsible.
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

    /// Returns what happened.
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

    /// Returns the method that was attempted.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.inner.operation
    }

    /// Returns the code of the server's error response, if that is the failure.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.server_error().map(|error| error.code)
    }

    /// Returns the `data` of the server's error response, if that is the failure.
    #[must_use]
    pub fn data(&self) -> Option<&RawJson> {
        self.server_error().and_then(|error| error.data.as_ref())
    }

    /// Returns the server's error response verbatim, if that is the failure.
    #[must_use]
    pub fn server_error(&self) -> Option<&ErrorObject> {
        match &self.inner.repr {
            ErrorRepr::ErrorResponse(error, _) => Some(error),
            _ => None,
        }
    }

    /// Returns why the connection was lost, if that is why the operation failed.
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

    /// Returns whether the operation timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }

    /// Returns whether the connection was lost or not open.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        // A frame that is too large is too large for any connection.
        let too_large = self.reason() == Reason::OversizedFrame;
        matches!(self.kind(), ErrorKind::Transport | ErrorKind::State) && !too_large
    }

    /// Returns whether the server denies access: no credentials are available, or it
    /// rejected those that were sent (HTTP 401 and 403).
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

    /// Returns whether the same call may succeed later. This does not mean that it is
    /// safe to repeat.
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
                    Some(cause) => write!(f, "; last disconnect: {cause}"),
                    None => Ok(()),
                }
            }
            ErrorRepr::ErrorResponse(error, _) => {
                write!(f, "{operation}: the server returned an error: {error}")
            }
            ErrorRepr::Decode(error) => {
                write!(f, "{operation}: invalid response: {error}")
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

/// Makes `result.into_result()?` return a tool failure as an error.
impl From<ToolFailure> for Error {
    fn from(failure: ToolFailure) -> Self {
        Self::tool_failed(failure.result.all_text())
    }
}
