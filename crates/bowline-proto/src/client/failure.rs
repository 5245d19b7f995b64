//! Why a call to the server ended without a response.

use std::{fmt, time::Duration};

use super::{ConnectionError, ConnectionErrorKind, ConnectionState};
use crate::{
    error::{ErrorKind, Reason},
    http::classify_status,
    model::method,
};

/// The outcome of a call to the server.
pub type Outcome = crate::Outcome<Failure>;

/// Why a call ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server did not answer in time.
    Timeout {
        /// The timeout that expired.
        after: Duration,
    },
    /// The caller cancelled the call.
    Cancelled,
    /// The connection was lost while the call was in flight. The call may have had its
    /// effect.
    ConnectionLost(ConnectionError),
    /// The connection was shut down.
    Shutdown,
    /// The connection was lost too often, and the client stopped reconnecting.
    GaveUp(ConnectionError),
    /// The connection is not open, and the call was not allowed to wait.
    NotReady {
        /// The current state.
        state: ConnectionState,
        /// The delay before the next attempt.
        retry_in: Option<Duration>,
    },
    /// The outbound queue stayed full.
    Busy {
        /// How many times the frame was sent.
        sends: u32,
    },
    /// The transport could not deliver the request.
    NotDelivered(ConnectionError),
    /// The request exceeds the frame size limit and was not sent.
    RequestTooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The response exceeded the frame size limit.
    ResponseTooLarge {
        /// Its size in bytes when it was discarded.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The response is not valid.
    InvalidResponse {
        /// The problem with it.
        message: String,
    },
    /// The server did not advertise the capability that the call needs; nothing was
    /// sent.
    CapabilityNotSupported {
        /// The capability, as a path such as `resources.subscribe`.
        capability: &'static str,
    },
    /// This client did not declare the capability that the call needs; nothing was
    /// sent.
    CapabilityNotDeclared {
        /// The capability, as a path such as `roots.listChanged`.
        capability: &'static str,
    },
    /// The negotiated revision does not have the method; nothing was sent.
    NoSuchMethod {
        /// The method.
        method: String,
        /// The revision's version string.
        revision: &'static str,
    },
    /// The server accepts only stateless calls, and this one is stateful.
    ModeMismatch,
    /// The server has no sessions, and this call must be bound to one; nothing was
    /// sent.
    NoSession,
    /// The session that the call belongs to has ended; the call was not made in
    /// another.
    SessionLost,
    /// The call's session belongs to another connection; nothing was sent.
    ForeignSession,
    /// The server asked for input more often than allowed.
    TooManyRounds {
        /// The maximum number of rounds.
        rounds: u32,
    },
    /// The server asked for something that this client did not offer.
    InputNotOffered {
        /// The method it asked for.
        method: String,
    },
    /// The host did not answer the server's questions.
    InputNotProvided,
    /// The server did not accept the subscription.
    SubscriptionRefused,
    /// The task that the call became was cancelled.
    TaskCancelled,
    /// The task that the call became did not end within its time to live.
    TaskExpired {
        /// The time to live.
        ttl: Duration,
    },
}

impl Failure {
    /// Returns the coarse kind of this failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } | Self::TaskExpired { .. } => ErrorKind::Timeout,
            Self::Cancelled | Self::InputNotProvided | Self::TaskCancelled => ErrorKind::Cancelled,
            Self::ConnectionLost(_)
            | Self::GaveUp(_)
            | Self::Busy { .. }
            | Self::NotDelivered(_)
            | Self::RequestTooLarge { .. } => ErrorKind::Transport,
            Self::Shutdown => ErrorKind::Shutdown,
            Self::NotReady { .. } | Self::SessionLost => ErrorKind::State,
            Self::ForeignSession => ErrorKind::Usage,
            Self::ResponseTooLarge { .. }
            | Self::InvalidResponse { .. }
            | Self::TooManyRounds { .. }
            | Self::InputNotOffered { .. } => ErrorKind::Protocol,
            Self::CapabilityNotSupported { .. }
            | Self::CapabilityNotDeclared { .. }
            | Self::NoSuchMethod { .. }
            | Self::ModeMismatch
            | Self::NoSession
            | Self::SubscriptionRefused => ErrorKind::Capability,
        }
    }

    /// Returns the fine-grained reason for this failure.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Timeout { .. } | Self::TaskExpired { .. } => Reason::Timeout,
            Self::Cancelled | Self::InputNotProvided | Self::TaskCancelled => Reason::Cancelled,
            Self::ConnectionLost(_) | Self::GaveUp(_) | Self::NotReady { .. } => {
                Reason::ConnectionClosed
            }
            Self::Shutdown => Reason::Shutdown,
            Self::Busy { .. } => Reason::Backpressure,
            Self::NotDelivered(_) => Reason::TransportError,
            Self::RequestTooLarge { .. } | Self::ResponseTooLarge { .. } => Reason::OversizedFrame,
            Self::InvalidResponse { .. }
            | Self::TooManyRounds { .. }
            | Self::InputNotOffered { .. } => Reason::InvalidResponse,
            Self::CapabilityNotSupported { .. }
            | Self::CapabilityNotDeclared { .. }
            | Self::SubscriptionRefused => Reason::CapabilityNotSupported,
            Self::NoSuchMethod { .. } => Reason::MethodNotFound,
            Self::ModeMismatch | Self::NoSession => Reason::CapabilityMismatch,
            Self::SessionLost => Reason::SessionLost,
            Self::ForeignSession => Reason::InvalidParams,
        }
    }

    /// Returns whether the same call may succeed later, if the connection allows it.
    /// This does not mean that it is safe to repeat.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::ConnectionLost(_) | Self::Busy { .. } => true,
            Self::NotReady { state, .. } => *state != ConnectionState::Closing,
            Self::NotDelivered(cause) => match cause.kind() {
                ConnectionErrorKind::Status { status, .. } => {
                    classify_status(*status).is_temporary()
                }
                ConnectionErrorKind::Unauthorized(_) => false,
                _ => true,
            },
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    // tidy: long table, one message per failure
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { after } => write!(f, "timed out after {after:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::ConnectionLost(_) => f.write_str("the connection was lost"),
            Self::Shutdown => f.write_str("the connection was shut down"),
            Self::GaveUp(_) => f.write_str("gave up reconnecting"),
            Self::NotReady {
                state,
                retry_in: Some(wait),
            } => {
                write!(
                    f,
                    "the connection is not open ({state}); next attempt in {wait:?}{WAIT}"
                )
            }
            Self::NotReady { state, .. } => {
                write!(f, "the connection is not open ({state}){WAIT}")
            }
            Self::Busy { sends } => write!(
                f,
                "the transport's outbound queue is still full after {sends} attempts"
            ),
            Self::NotDelivered(_) => f.write_str("the request was not delivered"),
            Self::RequestTooLarge { size, limit } => {
                write!(
                    f,
                    "the request of {size} bytes exceeds the limit of {limit} bytes; to send it, \
                     raise `max_frame_size`"
                )
            }
            Self::ResponseTooLarge { size, limit } => {
                write!(
                    f,
                    "the response of at least {size} bytes exceeds the limit of {limit} bytes; \
                     to receive it, raise `max_frame_size`"
                )
            }
            Self::InvalidResponse { message } => write!(f, "invalid response: {message}"),
            Self::CapabilityNotSupported { capability } => {
                write!(f, "the server does not support {capability}")
            }
            Self::CapabilityNotDeclared { capability } => {
                write!(
                    f,
                    "this client did not declare the capability {capability}; declare it when \
                     the client is built"
                )
            }
            Self::NoSuchMethod { method, revision } => {
                write!(
                    f,
                    "method {method} does not exist in protocol version {revision}"
                )
            }
            Self::ModeMismatch => f.write_str(
                "the server accepts only stateless calls; if the tool keeps no state, call it \
                 with the mode `Stateless`",
            ),
            Self::NoSession => f.write_str("the server has no sessions, and the call requires one"),
            Self::SessionLost => f.write_str("the session that the call belongs to has ended"),
            Self::ForeignSession => f.write_str(
                "the session belongs to another client; \
                 use the one returned by `session` on the client that makes the call",
            ),
            Self::TooManyRounds { rounds } => {
                write!(
                    f,
                    "the server asked for input more than {rounds} times; if that is expected, \
                     raise `max_input_rounds`"
                )
            }
            Self::InputNotOffered { method } => {
                write!(
                    f,
                    "the server asked for {method}, which this client does not support{}",
                    how_to_offer(method)
                )
            }
            Self::InputNotProvided => f.write_str("the server's questions were not answered"),
            Self::SubscriptionRefused => f.write_str("the server did not accept the subscription"),
            Self::TaskCancelled => f.write_str("the task was cancelled"),
            Self::TaskExpired { ttl } => {
                write!(f, "the task did not end within its time to live of {ttl:?}")
            }
        }
    }
}

/// What to do if the connection is not open.
const WAIT: &str = "; a call with `wait_for_connection` waits for it";

/// Returns what to do so that the server may ask with a method.
fn how_to_offer(asked: &str) -> &'static str {
    match asked {
        method::ELICITATION_CREATE => "; answer it with `on_elicit`",
        method::SAMPLING_CREATE_MESSAGE => "; answer it with `on_sample`",
        method::ROOTS_LIST => "; set `roots`",
        _ => "",
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::ConnectionLost(cause) | Self::GaveUp(cause) | Self::NotDelivered(cause) => {
                Some(cause)
            }
            _ => None,
        }
    }
}
