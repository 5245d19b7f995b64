//! The error type of client operations.

use std::fmt;

use super::page_tracker::IncompleteList;
use crate::proto::{
    ErrorKind, Reason,
    client::{ConnectionError, ConnectionErrorKind, Failure},
    http::classify_status,
    jsonrpc::{DecodeError, EncodeError, ErrorObject, RawJson},
    model::{CallToolResult, ToolFailure},
};

/// The reason why an operation of a client failed. Handlers of servers return another
/// type, `server::Error`.
///
/// [`kind`](Self::kind) returns the broad category, [`reason`](Self::reason) the specific
/// cause. Predicates such as [`is_timeout`](Self::is_timeout) cover the common cases.
///
/// - `{error}` prints how the operation failed, usually with its method.
/// - `{error:#}` prints the same and all causes, each after a colon. Show this to users. If
///   the server's process died, the last output on its standard error follows, which may
///   contain line breaks.
/// - [`source`] returns the cause.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use bowline::{Client, transport::ChildProcess};
/// use std::error::Error as _;
///
/// let error = Client::builder().connect(ChildProcess::new("no-such-server")).await.unwrap_err();
/// assert!(error.is_connection_error());
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
    Tool(Box<CallToolResult>),
    /// The result of a tool does not have the type that the caller wants.
    Output(DecodeError, Box<CallToolResult>),
    /// The tool differs from the one that was reviewed.
    #[cfg(feature = "lock")]
    NotAsReviewed(Box<crate::lock::Change>),
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

    pub(crate) fn tool_failed(result: CallToolResult) -> Self {
        Self::new("tools/call", ErrorRepr::Tool(Box::new(result)))
    }

    pub(crate) fn output(error: DecodeError, result: CallToolResult) -> Self {
        Self::new("tools/call", ErrorRepr::Output(error, Box::new(result)))
    }

    #[cfg(feature = "lock")]
    pub(crate) fn not_as_reviewed(change: crate::lock::Change) -> Self {
        Self::new("tools/call", ErrorRepr::NotAsReviewed(Box::new(change)))
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

    /// Adds the reason why the connection is down, if the operation failed because it is.
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
            ErrorRepr::Decode(_) | ErrorRepr::Output(..) => ErrorKind::Protocol,
            ErrorRepr::IncompleteList(reason) => reason.kind(),
            ErrorRepr::Encode(_) => ErrorKind::Usage,
            ErrorRepr::NotConnected { .. } => ErrorKind::Transport,
            #[cfg(feature = "lock")]
            ErrorRepr::NotAsReviewed(_) => ErrorKind::Policy,
        }
    }

    /// Returns the specific cause.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match &self.inner.repr {
            ErrorRepr::Failed(failure) => failure.reason(),
            ErrorRepr::ErrorResponse(_, reason) => *reason,
            ErrorRepr::Decode(_) | ErrorRepr::Output(..) => Reason::InvalidResponse,
            ErrorRepr::IncompleteList(why) => why.reason(),
            ErrorRepr::Encode(_) => Reason::InvalidParams,
            ErrorRepr::Tool(_) => Reason::ToolExecutionFailed,
            ErrorRepr::NotConnected { .. } => Reason::ConnectionClosed,
            #[cfg(feature = "lock")]
            ErrorRepr::NotAsReviewed(_) => Reason::NotAsReviewed,
        }
    }

    /// Returns the method of the request that failed, such as `tools/call`, or `connect`.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.inner.operation
    }

    /// Returns the error code, if the server responded with an error.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.server_error().map(|error| error.code)
    }

    /// Returns the `data` of the error, if the server responded with an error that has it.
    #[must_use]
    pub fn data(&self) -> Option<&RawJson> {
        self.server_error().and_then(|error| error.data.as_ref())
    }

    /// Returns the error exactly as the server sent it, if it responded with an error. An
    /// error that came with an HTTP status that denies access, or that asks to try again
    /// later, is here too; its [kind](Self::kind) is [`ErrorKind::Transport`].
    #[must_use]
    pub fn server_error(&self) -> Option<&ErrorObject> {
        match &self.inner.repr {
            ErrorRepr::ErrorResponse(error, _) => Some(error),
            ErrorRepr::Failed(Failure::NotDelivered(cause)) => cause.server_error(),
            _ => None,
        }
    }

    /// Returns why the connection was lost or could not be opened, if the operation
    /// failed for that reason.
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

    /// Returns the result of the tool, if it failed or does not have the type that the
    /// caller asked for with [`typed`](super::ToolCall::typed).
    #[must_use]
    pub fn tool_result(&self) -> Option<&CallToolResult> {
        match &self.inner.repr {
            ErrorRepr::Tool(result) | ErrorRepr::Output(_, result) => Some(result),
            _ => None,
        }
    }

    /// Returns how the tool differs from the one that was reviewed, if that is why it
    /// was not called.
    #[cfg(feature = "lock")]
    #[must_use]
    pub fn tool_change(&self) -> Option<&crate::lock::Change> {
        match &self.inner.repr {
            ErrorRepr::NotAsReviewed(change) => Some(change),
            _ => None,
        }
    }

    /// Returns whether the operation timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }

    /// Returns whether the operation failed because the connection was lost or is not
    /// open, or because the transport could not deliver the request.
    ///
    /// A request over the size limit, a full queue and a lost session are not connection
    /// errors.
    #[must_use]
    pub fn is_connection_error(&self) -> bool {
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
    /// rejected those that were sent (HTTP 401 and 403; 407 if a proxy did), whether or not
    /// it also sent a JSON-RPC error.
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

/// `{:#}` also writes the causes.
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
            ErrorRepr::Output(..) => {
                write!(f, "{operation}: the result does not have the expected type")
            }
            ErrorRepr::Tool(result) => write!(f, "the tool failed: {}", result.all_text()),
            ErrorRepr::IncompleteList(reason) => write!(f, "{operation}: {reason}"),
            ErrorRepr::NotConnected { .. } => f.write_str("not connected"),
            #[cfg(feature = "lock")]
            ErrorRepr::NotAsReviewed(change) => write_refusal(change, f),
        }?;
        write_causes(self, f)
    }
}

/// Writes why a tool was not called, and what to do.
#[cfg(feature = "lock")]
fn write_refusal(change: &crate::lock::Change, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use crate::lock::ChangeStatus;

    write!(f, "{} `{}` was not called: ", change.item, change.name)?;
    match change.status {
        ChangeStatus::Added => f.write_str("it is new and nobody has reviewed it; review it")?,
        ChangeStatus::Removed => f.write_str("the server no longer lists it; review the server")?,
        ChangeStatus::Changed => {
            let messages = change.differences.iter().map(|it| it.message.as_str());
            let messages: Vec<_> = messages.collect();
            let (kind, messages) = (change.summary(), messages.join("; "));
            write!(f, "it has changed since its review ({kind}")?;
            if !messages.is_empty() {
                write!(f, ": {messages}")?;
            }
            f.write_str("); review the change")?;
        }
    }
    f.write_str(", then run `bowline lock SERVER`")
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
            ErrorRepr::Decode(error) | ErrorRepr::Output(error, _) => Some(error),
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
        Self::tool_failed(*failure.result)
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
            assert_eq!(error.is_connection_error(), expected, "{error:?}");
        }
        let error = ErrorObject::new(-32602, "no");
        for (error, expected) in [
            (Error::not_connected(lost()), true),
            (Error::gave_up(lost()), true),
            (Error::error_response("tools/call", error), false),
            (Error::decode("ping", DecodeError::new("a", "b")), false),
            (Error::encode("ping", EncodeError::NotAnObject), false),
            (Error::tool_failed(CallToolResult::text("no")), false),
        ] {
            assert_eq!(error.is_connection_error(), expected, "{error:?}");
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
