//! Client observations (telemetry events).
//!
//! The names and fields are stable. Payloads never appear: no parameters, no results,
//! no environment.

use std::{borrow::Cow, time::Duration};

use super::{ConnectionError, ConnectionState};
use crate::{
    error::Reason,
    http::header::HeaderSchemaErrorKind,
    telemetry::{TruncateString as _, Violation, names},
};

/// A telemetry event. [`TelemetryEvent::name`] returns its stable name.
///
/// There is no observation for a missing transition: the state table is an exhaustive
/// match, so one cannot occur.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TelemetryEvent {
    /// A call was accepted.
    RequestStart {
        /// The call's number.
        call: u64,
        /// A number that correlates the call across systems.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
    },
    /// A call ended with a response.
    RequestStop {
        /// The call's number.
        call: u64,
        /// Its correlation number.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// The code of the peer's error, if the response was an error.
        error_code: Option<i64>,
    },
    /// A call ended without a response.
    RequestException {
        /// The call's number.
        call: u64,
        /// Its correlation number.
        correlation: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// The reason.
        reason: Reason,
    },
    /// The connection changed its state.
    Transition {
        /// The previous state.
        from: ConnectionState,
        /// The new state.
        to: ConnectionState,
        /// The reason.
        reason: TransitionReason,
    },
    /// A notification arrived.
    NotificationReceived {
        /// Its method.
        method: Box<str>,
    },
    /// The peer violated the protocol.
    Violation {
        /// The kind of violation.
        violation: Violation,
        /// The size of the affected frame.
        size: usize,
        /// The limit that was exceeded, if any.
        limit: Option<usize>,
    },
    /// A response to an unknown request arrived.
    UnknownResponse,
    /// A response to a cancelled request arrived.
    LateResponse,
    /// Input from an old link arrived.
    StaleLink,
    /// A request will be sent again: the outbound queue is full, or its exchange broke
    /// and its caller allowed repetition.
    RetryScheduled {
        /// The call's number.
        call: u64,
        /// The number of attempts so far.
        sends: u32,
        /// The delay before the next attempt.
        delay: Duration,
    },
    /// The outbound queue stayed full.
    RetryExhausted {
        /// The call's number.
        call: u64,
    },
    /// A cancellation was sent to the server.
    CancelSent {
        /// The request's id.
        id: u64,
    },
    /// Expired ids of cancelled calls were removed.
    CancelledCallsExpired {
        /// The number of ids.
        count: usize,
    },
    /// The host's handler for a notification panicked. Emitted by drivers, which call
    /// handlers; never by the machine.
    HandlerException {
        /// The notification's method.
        method: Box<str>,
        /// The message of the panic.
        error: Box<str>,
    },
    /// A tool was removed from a list because its header annotations are not valid.
    ToolDropped {
        /// The tool's name.
        tool: Box<str>,
        /// The problem with its annotations.
        fault: HeaderSchemaErrorKind,
    },
    /// Observations were dropped because the observer was too slow. Emitted by drivers,
    /// which deliver observations.
    ObservationsLost {
        /// The number of dropped observations.
        count: usize,
    },
    /// An outgoing notification was dropped: no session is open, or the notification is
    /// not allowed in it.
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
    /// The connection was lost or could not be opened.
    Disconnected(ConnectionError),
    /// The backoff is over, and the next attempt begins.
    RetryDue,
    /// The connection was lost, and there are no further attempts.
    GaveUp(ConnectionError),
    /// The host stopped the connection.
    Stopped,
}

impl TransitionReason {
    /// Returns the stable name of this reason.
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

    /// Returns the connection error, if there was one.
    #[must_use]
    pub fn error(&self) -> Option<&ConnectionError> {
        match self {
            Self::Disconnected(cause) | Self::GaveUp(cause) => Some(cause),
            Self::Started | Self::SessionOpened | Self::RetryDue | Self::Stopped => None,
        }
    }

    /// Returns the reason for a transition, with the connection error if there was one.
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

impl TelemetryEvent {
    /// Truncates strings chosen by a peer, such as method names, and returns the number
    /// of heap bytes they use afterwards. Drivers that store observations call this
    /// first.
    pub fn truncate_strings(&mut self) -> usize {
        match self {
            Self::RequestStart { method, .. }
            | Self::RequestStop { method, .. }
            | Self::RequestException { method, .. }
            | Self::NotificationDropped { method } => method.truncate(),
            Self::NotificationReceived { method } => method.truncate(),
            Self::HandlerException { method, error } => method.truncate() + error.truncate(),
            Self::ToolDropped { tool, .. } => tool.truncate(),
            // The detail is already limited when it is read.
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
