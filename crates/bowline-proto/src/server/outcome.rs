//! How a call of ours to the client ends: exactly one of these, exactly once.

use std::{fmt, time::Duration};

use bytes::Bytes;

use crate::{
    error::{ErrorKind, Reason},
    jsonrpc::ErrorObject,
};

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The client's result, verbatim: a slice of the frame that brought it.
    Result(Bytes),
    /// The client refused.
    Error(ErrorObject),
    /// There is no answer, and there will be none.
    Failed(Failure),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The client did not answer in time.
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// The caller gave the call up, or the request that it was made for ended.
    Cancelled,
    /// The link is gone, or the server was shut down.
    Closed,
    /// The client did not declare what the call needs; nothing was sent.
    CapabilityMissing {
        /// The capability, as a path such as `elicitation.url`.
        capability: &'static str,
    },
    /// Servers ask nothing in the stateless era, or there is no session to ask
    /// in; nothing was sent. Questions go into the result instead.
    NotSupportedInEra,
    /// The client has not ended the handshake yet; nothing was sent.
    NotInitialized,
    /// The negotiated revision cannot carry the call; nothing was sent.
    NotSupportedInRevision {
        /// What it cannot carry.
        message: &'static str,
    },
    /// Too many calls are open; nothing was sent.
    TooManyCalls,
    /// The call could not be encoded, or is over the frame limit; nothing was
    /// sent.
    NotSendable {
        /// Why.
        message: String,
    },
    /// The answer was not one.
    InvalidResponse {
        /// What was wrong with it.
        message: String,
    },
}

impl Failure {
    /// The coarse kind of this failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Closed | Self::NotSendable { .. } => ErrorKind::Transport,
            Self::CapabilityMissing { .. } | Self::NotSupportedInRevision { .. } => {
                ErrorKind::Capability
            }
            Self::NotSupportedInEra | Self::NotInitialized | Self::TooManyCalls => ErrorKind::State,
            Self::InvalidResponse { .. } => ErrorKind::Protocol,
        }
    }

    /// The fine reason of this failure.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Timeout { .. } => Reason::Timeout,
            Self::Cancelled => Reason::Cancelled,
            Self::Closed => Reason::ConnectionClosed,
            Self::CapabilityMissing { .. } => Reason::CapabilityNotSupported,
            Self::NotSupportedInEra | Self::NotInitialized => Reason::CapabilityMismatch,
            Self::NotSupportedInRevision { .. } => Reason::MethodNotFound,
            Self::TooManyCalls => Reason::Backpressure,
            Self::NotSendable { .. } => Reason::TransportError,
            Self::InvalidResponse { .. } => Reason::InvalidResponse,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { after } => write!(f, "no answer within {after:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Closed => f.write_str("the connection is closed"),
            Self::CapabilityMissing { capability } => {
                write!(f, "the client did not declare {capability}")
            }
            Self::NotSupportedInEra => f.write_str("servers cannot call this client"),
            Self::NotInitialized => f.write_str("the client has not ended the handshake yet"),
            Self::NotSupportedInRevision { message } => f.write_str(message),
            Self::TooManyCalls => f.write_str("too many calls are open"),
            Self::NotSendable { message } => write!(f, "the call cannot be sent: {message}"),
            Self::InvalidResponse { message } => write!(f, "the answer is not valid: {message}"),
        }
    }
}

impl std::error::Error for Failure {}
