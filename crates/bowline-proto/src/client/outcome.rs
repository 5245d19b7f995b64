//! How a call ends: exactly one of these, exactly once.

use std::{fmt, time::Duration};

use bytes::Bytes;

use super::{ConnectionError, ConnectionErrorKind, ConnectionState};
use crate::{
    error::{ErrorKind, Reason},
    jsonrpc::ErrorObject,
};

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server's result, verbatim: a slice of the frame that brought it,
    /// to be decoded by whoever asked.
    Result(Bytes),
    /// The server refused.
    Error(ErrorObject),
    /// There is no answer, and there will be none.
    Failed(Failure),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server did not answer in time.
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// The caller gave the call up.
    Cancelled,
    /// The connection fell while the call was under way. It may have had its
    /// effect.
    ConnectionLost(ConnectionError),
    /// The connection was stopped.
    Shutdown,
    /// The connection had fallen too often and was given up. There will be
    /// none.
    GaveUp(ConnectionError),
    /// The connection is not open, and the call was not to wait.
    NotReady {
        /// The state it is in.
        state: ConnectionState,
        /// When the next attempt is due.
        retry_in: Option<Duration>,
    },
    /// The outbound queue stayed full.
    Busy {
        /// How often the frame was offered.
        sends: u32,
    },
    /// The transport could not deliver the request.
    NotDelivered(ConnectionError),
    /// The request is over the frame limit and was not sent.
    RequestTooLarge {
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The answer was over the frame limit.
    ResponseTooLarge {
        /// How large it was when it was abandoned.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The answer was not one.
    InvalidResponse {
        /// What was wrong with it.
        message: String,
    },
    /// The server did not advertise what the call needs; nothing was sent.
    CapabilityNotSupported {
        /// The capability, as a path such as `resources.subscribe`.
        capability: &'static str,
    },
    /// This client did not declare what the call is about; nothing was sent.
    CapabilityNotDeclared {
        /// The capability, as a path such as `roots.listChanged`.
        capability: &'static str,
    },
    /// The negotiated revision has no such method; nothing was sent.
    NoSuchMethod {
        /// The method.
        method: String,
        /// The revision, as it is written on the wire.
        revision: &'static str,
    },
    /// The server serves stateless calls only, and this one is stateful.
    ModeMismatch,
    /// The server keeps no sessions, and this call was to be bound to one;
    /// nothing was sent.
    NoSession,
    /// The session that the call belongs to is over; nothing was done in
    /// another.
    SessionLost,
    /// The call was to be bound to a session of another connection; nothing was
    /// sent.
    ForeignSession,
    /// The server asked for input more often than allowed.
    TooManyRounds {
        /// How many rounds were allowed.
        rounds: u32,
    },
    /// The server asked for something that we did not offer.
    InputNotOffered {
        /// What it asked for.
        method: String,
    },
    /// The host gave no answer to the server's questions.
    InputNotProvided,
    /// The server does not honour this subscription.
    SubscriptionRefused,
}

impl Failure {
    /// The coarse kind of this failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Cancelled | Self::InputNotProvided => ErrorKind::Cancelled,
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

    /// The fine reason of this failure.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Timeout { .. } => Reason::Timeout,
            Self::Cancelled | Self::InputNotProvided => Reason::Cancelled,
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

    /// Whether the same call may succeed later, the connection permitting.
    /// Says nothing about whether repeating it is harmless.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::ConnectionLost(_) | Self::Busy { .. } => true,
            Self::NotReady { state, .. } => *state != ConnectionState::Closing,
            Self::NotDelivered(cause) => match cause.kind() {
                ConnectionErrorKind::Status { status, .. } => {
                    matches!(status, 408 | 429 | 500..=599)
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
            Self::Timeout { after } => write!(f, "no answer within {after:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::ConnectionLost(cause) => write!(f, "the connection was lost: {cause}"),
            Self::Shutdown => f.write_str("the connection was stopped"),
            Self::GaveUp(cause) => write!(f, "the connection was given up: {cause}"),
            Self::NotReady {
                state,
                retry_in: Some(wait),
            } => {
                write!(
                    f,
                    "the connection is not open ({state}); next attempt in {wait:?}"
                )
            }
            Self::NotReady { state, .. } => write!(f, "the connection is not open ({state})"),
            Self::Busy { sends } => write!(f, "the transport is busy after {sends} attempts"),
            Self::NotDelivered(cause) => write!(f, "the request was not delivered: {cause}"),
            Self::RequestTooLarge { size, limit } => {
                write!(f, "the request has {size} bytes; the limit is {limit}")
            }
            Self::ResponseTooLarge { size, limit } => {
                write!(
                    f,
                    "the answer has at least {size} bytes; the limit is {limit}"
                )
            }
            Self::InvalidResponse { message } => write!(f, "the answer is not valid: {message}"),
            Self::CapabilityNotSupported { capability } => {
                write!(f, "the server does not offer {capability}")
            }
            Self::CapabilityNotDeclared { capability } => {
                write!(f, "this client does not declare {capability}")
            }
            Self::NoSuchMethod { method, revision } => {
                write!(f, "protocol revision {revision} has no method {method}")
            }
            Self::ModeMismatch => f.write_str("the server takes stateless calls only"),
            Self::NoSession => {
                f.write_str("the server keeps no sessions, and the call was to be bound to one")
            }
            Self::SessionLost => f.write_str("the session that the call belongs to is over"),
            Self::ForeignSession => f.write_str(
                "the session that the call was to be bound to is another client's; \
                 use the one that `session` gives on the client that makes the call",
            ),
            Self::TooManyRounds { rounds } => {
                write!(f, "the server asked for input more than {rounds} times")
            }
            Self::InputNotOffered { method } => {
                write!(
                    f,
                    "the server asked for {method}, which this client does not offer"
                )
            }
            Self::InputNotProvided => f.write_str("the server's questions were not answered"),
            Self::SubscriptionRefused => {
                f.write_str("the server does not honour this subscription")
            }
        }
    }
}

impl std::error::Error for Failure {}
