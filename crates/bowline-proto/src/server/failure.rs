//! Why a call to the client ended without a response.

use std::{fmt, time::Duration};

use crate::error::{ErrorKind, Reason};

/// The outcome of a call to the client.
pub type Outcome = crate::Outcome<Failure>;

/// Why a call ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The client did not answer in time.
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The caller cancelled the call, or the request that it was made for
    /// ended.
    Cancelled,
    /// The link is lost, or the server was shut down.
    Closed,
    /// The client did not declare the capability that the call needs; nothing
    /// was sent.
    CapabilityMissing {
        /// The capability, as a path such as `elicitation.url`.
        capability: &'static str,
    },
    /// Servers do not call clients in the stateless era, or there is no
    /// session; nothing was sent. Put questions into the result instead.
    NotSupportedInEra,
    /// The client has not completed the handshake yet; nothing was sent.
    NotInitialized,
    /// The negotiated revision cannot carry the call; nothing was sent.
    NotSupportedInRevision {
        /// What it cannot carry.
        message: &'static str,
    },
    /// Too many calls are open; nothing was sent.
    TooManyCalls,
    /// The call could not be encoded, or exceeds the frame limit; nothing was
    /// sent.
    NotSendable {
        /// Why.
        message: String,
    },
    /// The response is invalid.
    InvalidResponse {
        /// What is wrong with it.
        message: String,
    },
}

impl Failure {
    /// Returns the coarse kind of this failure.
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

    /// Returns the fine-grained reason of this failure.
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
            Self::Timeout { after } => write!(f, "the client did not answer: timed out after {after:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Closed => f.write_str("the connection is closed"),
            Self::CapabilityMissing { capability } => {
                write!(f, "the client did not declare {capability}")
            }
            Self::NotSupportedInEra => f.write_str("the client cannot be called: there is no handshake session; return an input request instead"),
            Self::NotInitialized => f.write_str("the client has not completed the handshake yet"),
            Self::NotSupportedInRevision { message } => f.write_str(message),
            Self::TooManyCalls => f.write_str("too many open calls to the client"),
            Self::NotSendable { message } => write!(f, "the call cannot be sent: {message}"),
            Self::InvalidResponse { message } => write!(f, "invalid response: {message}"),
        }
    }
}

impl std::error::Error for Failure {}
