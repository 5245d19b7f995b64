//! The error type of client operations.

use std::fmt;

use super::page_tracker::IncompleteList;
use crate::proto::{
    ErrorKind, Reason,
    client::{ConnectionError, ConnectionErrorKind, Failure},
    http::classify_status,
    jsonrpc::{DecodeError, EncodeError, ErrorObject, RawJson},
    model::ToolFailure,
};

/// Why an operation of a client failed. Handlers of servers have an error of their own,
/// `server::Error`.
///
/// [`kind`](Self::kind) is the broad category, [`reason`](Self::reason) the specific
/// cause. Predicates such as [`is_timeout`](Self::is_timeout) cover the common
/// questions.
///
/// `{error}` prints what was attempted and how it failed, [`source`] returns the cause,
/// and `{error:#}` prints the error with all its causes in one line, which is what to
/// show to people. If the server's process died, it ends with its last lines on standard
/// error.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use bowline::{Client, transport::ChildProcess};
/// use std::error::Error as _;
///
/// let error = Client::builder().connect(ChildProcess::new("no-such-server")).await.unwrap_err();
/// assert!(error.is_connection());
/// assert_eq!(error.to_string(), "not connected");
/// assert_eq!(
///     error.source().map(ToString::to_string).as_deref(),
///     Some(
///         "the server could not be reached: the command \"no-such-server\" was not found \
///          (is it installed and on PATH?)"
///     ),
/// );
/// assert!(format!("{error:#}").starts_with("not connected: the server could not be reached: "));
/// # }
/// ```
///
/// [`source`]: std::error::Error::source
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

    /// Returns the broad category.
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

    /// Returns why the connection was lost or could not be opened, if that is why the
    /// operation failed.
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

    /// Returns whether the connection was lost or is not open, or the transport could
    /// not deliver the request.
    ///
    /// Requests over the size limit, a full queue and a lost session are not failures of
    /// the connection.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        match &self.inner.repr {
            ErrorRepr::NotConnected { .. } => true,
            ErrorRepr::Failed(Failure::NotDelivered(cause)) => {
                // It is too large for any connection.
                !matches!(cause.kind(), ConnectionErrorKind::OversizedFrame { .. })
            }
            ErrorRepr::Failed(failure) => matches!(
                failure,
                Failure::ConnectionLost(_) | Failure::GaveUp(_) | Failure::NotReady { .. }
            ),
            _ => false,
        }
    }

    /// Returns whether the server denies access: no credentials are available, or it
    /// rejected those that were sent (HTTP 401 and 403; 407 if a proxy did).
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        match self.connection_error().map(ConnectionError::kind) {
            Some(ConnectionErrorKind::Unauthorized(_)) => true,
            Some(ConnectionErrorKind::Status { status, .. }) => {
                classify_status(*status).denies_access()
            }
            _ => false,
        }
    }

    /// Returns whether the same call may succeed later. This does not mean that it is
    /// safe to repeat.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => failure.is_transient(),
            ErrorRepr::NotConnected { is_permanent, .. } => {
                !is_permanent && !self.is_unauthorized()
            }
            ErrorRepr::IncompleteList(reason) => reason.kind() == ErrorKind::Timeout,
            _ => false,
        }
    }
}

/// With `{:#}`, followed by the causes.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = &self.inner.operation;
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => write!(f, "{operation}: {failure}"),
            ErrorRepr::ErrorResponse(error, _) => {
                write!(f, "{operation}: the server returned an error: {error}")
            }
            ErrorRepr::Decode(_) => write!(f, "{operation}: invalid response"),
            ErrorRepr::Encode(_) => {
                write!(f, "{operation}: the parameters cannot be written as JSON")
            }
            ErrorRepr::Tool(text) => write!(f, "the tool failed: {text}"),
            ErrorRepr::IncompleteList(reason) => write!(f, "{operation}: {reason}"),
            ErrorRepr::NotConnected { .. } => f.write_str("not connected"),
        }?;
        write_causes(self, f)
    }
}

/// Writes the causes of an error, each after a colon, if the format is `{:#}`.
pub(crate) fn write_causes(
    error: &dyn std::error::Error,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut cause = error.source().filter(|_| f.alternate());
    while let Some(error) = cause {
        write!(f, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("reason", &self.reason())
            .field("message", &format!("{self:#}"))
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.inner.repr {
            ErrorRepr::Decode(error) => Some(error),
            ErrorRepr::Encode(error) => Some(error),
            // The server's error and the tool's text are not causes: they are what
            // happened, and part of the message.
            _ => self.connection_error().map(|cause| cause as _),
        }
    }
}

/// Makes `result.into_result()?` return a tool failure as an error.
impl From<ToolFailure> for Error {
    fn from(failure: ToolFailure) -> Self {
        Self::tool_failed(failure.result.all_text())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::proto::client::ConnectionState;

    fn lost() -> ConnectionError {
        ConnectionErrorKind::Eof.into()
    }

    // tidy: long table, one row per failure
    #[test]
    fn only_failures_of_the_connection_are_connection_errors() {
        let after = Duration::from_secs(1);
        let too_large: ConnectionError =
            ConnectionErrorKind::OversizedFrame { size: 2, limit: 1 }.into();
        let not_ready = Failure::NotReady {
            state: ConnectionState::Backoff,
            retry_in: None,
        };
        let refused: ConnectionError = ConnectionErrorKind::Status {
            status: 503,
            retry_after: None,
        }
        .into();
        for (failure, expected) in [
            (Failure::ConnectionLost(lost()), true),
            (Failure::GaveUp(lost()), true),
            (Failure::NotDelivered(refused), true),
            (not_ready, true),
            (Failure::NotDelivered(too_large), false),
            (Failure::RequestTooLarge { size: 2, limit: 1 }, false),
            (Failure::ResponseTooLarge { size: 2, limit: 1 }, false),
            (Failure::Busy { sends: 3 }, false),
            (Failure::SessionLost, false),
            (Failure::ForeignSession, false),
            (Failure::Timeout { after }, false),
            (Failure::Cancelled, false),
            (Failure::Shutdown, false),
            (Failure::NoSession, false),
            (Failure::ModeMismatch, false),
            (
                Failure::NoSuchMethod {
                    method: "x".into(),
                    revision: "2026-07-28",
                },
                false,
            ),
            (Failure::TooManyRounds { rounds: 1 }, false),
            (Failure::InputNotProvided, false),
            (Failure::SubscriptionRefused, false),
        ] {
            let error = Error::failed("tools/call", failure);
            assert_eq!(error.is_connection(), expected, "{error:?}");
        }
        let error = ErrorObject::new(-32602, "no");
        for (error, expected) in [
            (Error::not_connected(lost()), true),
            (Error::gave_up(lost()), true),
            (Error::error_response("tools/call", error), false),
            (Error::decode("ping", DecodeError::new("a", "b")), false),
            (Error::encode("ping", EncodeError::NotAnObject), false),
            (Error::tool_failed("no".to_owned()), false),
        ] {
            assert_eq!(error.is_connection(), expected, "{error:?}");
        }
    }

    #[test]
    fn a_status_that_denies_access_is_unauthorized() {
        for (status, expected) in [(401, true), (403, true), (407, true), (404, false)] {
            let cause = ConnectionErrorKind::Status {
                status,
                retry_after: None,
            };
            let error = Error::not_connected(cause.into());
            assert_eq!(error.is_unauthorized(), expected, "{status}");
        }
    }

    #[test]
    fn a_client_that_gave_up_says_why_in_levels() {
        let last = ConnectionErrorKind::Exited {
            code: Some(3),
            signal: None,
        };
        let cause = ConnectionErrorKind::TooManyRestarts {
            restarts: 5,
            period: Duration::from_secs(60),
            last: ConnectionError::new(last).with_detail("no database"),
        };
        let error = Error::failed("ping", Failure::GaveUp(cause.into()));
        assert_eq!(error.to_string(), "ping: gave up reconnecting");
        assert_eq!(
            format!("{error:#}"),
            "ping: gave up reconnecting: the session was lost again after 5 restarts within 60s, \
             which is the limit: the server process exited with code 3; \
             last stderr output: no database",
        );
    }
}
