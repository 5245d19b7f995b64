//! What an observer may want to know, as data.
//!
//! The names and fields are stable. Payloads never appear: no parameters, no
//! results, no environment.

use std::{borrow::Cow, time::Duration};

use super::{ConnectionError, ConnectionState};
use crate::{
    error::Reason,
    http::header::HeaderSchemaErrorKind,
    telemetry::{TruncateString as _, names},
};

/// One observation. [`Telemetry::name`] is its stable name.
///
/// There is no event for a missing transition: the state table is an
/// exhaustive match, so there is no such thing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Telemetry {
    /// A call was accepted.
    RequestStart {
        /// The call's number.
        call: u64,
        /// A number to correlate it by across systems.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
    },
    /// A call ended with an answer.
    RequestStop {
        /// The call's number.
        call: u64,
        /// Its correlation number.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// The code of the peer's error, where the answer was one.
        error_code: Option<i64>,
    },
    /// A call ended without an answer.
    RequestException {
        /// The call's number.
        call: u64,
        /// Its correlation number.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Why.
        reason: Reason,
    },
    /// The connection changed its state.
    Transition {
        /// From.
        from: ConnectionState,
        /// To.
        to: ConnectionState,
        /// Why.
        reason: TransitionReason,
    },
    /// A notification arrived.
    NotificationReceived {
        /// Its method.
        method: Box<str>,
    },
    /// The peer broke the protocol.
    Violation {
        /// How.
        violation: Violation,
        /// The size of the frame concerned.
        size: usize,
        /// The limit that was exceeded, where it was one.
        limit: Option<usize>,
    },
    /// An answer to nothing that we know of.
    UnknownResponse,
    /// An answer to something that we gave up.
    LateResponse,
    /// Something from a link that is no longer ours.
    StaleLink,
    /// The link was busy; the frame will be offered again.
    RetryScheduled {
        /// The call's number.
        call: u64,
        /// How often it was offered so far.
        sends: u32,
        /// The wait before the next offer.
        delay: Duration,
    },
    /// The link stayed busy.
    RetryExhausted {
        /// The call's number.
        call: u64,
    },
    /// The server was told that a request is no longer wanted.
    CancelSent {
        /// The request's id.
        id: u64,
    },
    /// Expired tombstones were removed.
    CancelledCallsExpired {
        /// How many.
        count: usize,
    },
    /// A handler of the host's failed on a notification. Seen by drivers, which
    /// call handlers; the machine does not.
    HandlerException {
        /// The notification's method.
        method: Box<str>,
        /// What it said: the message of its panic.
        error: Box<str>,
    },
    /// A tool was left out of a list: its arguments cannot travel in headers
    /// as it wants them to.
    ToolDropped {
        /// The tool's name.
        tool: Box<str>,
        /// What is wrong with its annotations.
        fault: HeaderSchemaErrorKind,
    },
    /// Observations were left out, because whoever looks on was too slow. Seen
    /// by drivers, which show observations.
    ObservationsLost {
        /// How many.
        count: usize,
    },
    /// A notification of ours was dropped: there is no session to send it in,
    /// or it has no place there.
    NotificationDropped {
        /// Its method.
        method: Cow<'static, str>,
    },
}

/// Why a connection changed its state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransitionReason {
    /// The first attempt to connect begins.
    Started,
    /// A session is open.
    SessionOpened,
    /// The connection fell, or did not come up.
    Disconnected(ConnectionError),
    /// The wait is over, and the next attempt begins.
    RetryDue,
    /// It fell, and there are no further attempts.
    GaveUp(ConnectionError),
    /// The host stopped it.
    Stopped,
}

impl TransitionReason {
    /// The stable name of this reason.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::SessionOpened => "session_opened",
            Self::Disconnected(_) => "fell",
            Self::RetryDue => "retry_due",
            Self::GaveUp(_) => "gave_up",
            Self::Stopped => "stopped",
        }
    }

    /// Why the connection fell, where it did.
    #[must_use]
    pub fn error(&self) -> Option<&ConnectionError> {
        match self {
            Self::Disconnected(cause) | Self::GaveUp(cause) => Some(cause),
            Self::Started | Self::SessionOpened | Self::RetryDue | Self::Stopped => None,
        }
    }

    /// What led to a state, and the cause of the fall if there was one.
    pub(super) fn from_states(
        from: ConnectionState,
        to: ConnectionState,
        disconnect: Option<ConnectionError>,
    ) -> Self {
        match (to, disconnect) {
            (ConnectionState::Closing, Some(cause)) => Self::GaveUp(cause),
            (_, Some(cause)) => Self::Disconnected(cause),
            (ConnectionState::Ready, None) => Self::SessionOpened,
            (ConnectionState::Opening, None) if from == ConnectionState::Backoff => Self::RetryDue,
            (ConnectionState::Opening | ConnectionState::Starting, None) => Self::Started,
            (ConnectionState::Closing | ConnectionState::Backoff, None) => Self::Stopped,
        }
    }
}

/// How a peer can break the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// A frame that is not JSON-RPC.
    MalformedMessage,
    /// A frame over the limit.
    OversizedFrame,
    /// A batch where the revision has none.
    Batch,
    /// A request in a direction in which the revision has none.
    ServerRequest,
    /// A second opening.
    SecondInitialize,
    /// The same id twice at once.
    DuplicateId,
    /// More requests at once than allowed.
    TooManyRequests,
    /// An answer of the wrong kind.
    InvalidResponse,
    /// A notification whose parameters do not fit.
    InvalidNotification,
}

names! {
    RequestStart => "request.start",
    RequestStop => "request.stop",
    RequestException => "request.exception",
    Transition => "connection.transition",
    NotificationReceived => "notification.received",
    Violation => "protocol.violation",
    UnknownResponse => "response.unknown",
    LateResponse => "response.late",
    StaleLink => "link.stale",
    RetryScheduled => "retry.scheduled",
    RetryExhausted => "retry.exhausted",
    CancelSent => "cancel.sent",
    CancelledCallsExpired => "tombstones.swept",
    HandlerException => "notification.handler_exception",
    ToolDropped => "tool.dropped",
    ObservationsLost => "telemetry.lost",
    NotificationDropped => "notification.dropped",
}

impl Telemetry {
    /// Cuts texts that somebody else chose, such as the name of a method, where
    /// they are longer than is worth keeping. Says how many bytes they take
    /// then. Drivers that keep observations call this first.
    pub fn truncate_strings(&mut self) -> usize {
        match self {
            Self::RequestStart { method, .. }
            | Self::RequestStop { method, .. }
            | Self::RequestException { method, .. }
            | Self::NotificationDropped { method } => method.truncate(),
            Self::NotificationReceived { method } => method.truncate(),
            Self::HandlerException { method, error } => method.truncate() + error.truncate(),
            Self::ToolDropped { tool, .. } => tool.truncate(),
            // Its last words are bounded where they are read.
            Self::Transition { reason, .. } => {
                let detail = reason.error().and_then(ConnectionError::detail);
                detail.map_or(0, str::len)
            }
            Self::Violation { .. }
            | Self::UnknownResponse
            | Self::LateResponse
            | Self::StaleLink
            | Self::RetryScheduled { .. }
            | Self::RetryExhausted { .. }
            | Self::CancelSent { .. }
            | Self::CancelledCallsExpired { .. }
            | Self::ObservationsLost { .. } => 0,
        }
    }
}
