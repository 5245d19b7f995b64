//! Telemetry observations as data.
//!
//! The names and fields are stable. Payloads never appear: no parameters, no
//! results, no environment.

use std::{borrow::Cow, time::Duration};

use crate::{
    error::Reason,
    revision::Revision,
    telemetry::{TruncateString as _, Violation, names},
};

/// A telemetry event. [`TelemetryEvent::name`] returns its stable name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TelemetryEvent {
    /// A session of the handshake era was opened.
    SessionOpened {
        /// The revision of the session.
        revision: Revision,
    },
    /// A client's request was passed to the host.
    RequestStart {
        /// The request's number.
        request: u64,
        /// The request's method.
        method: Cow<'static, str>,
        /// The request's revision.
        revision: Revision,
    },
    /// A client's request was answered.
    RequestStop {
        /// The request's number.
        request: u64,
        /// The request's method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Whether the response was an error.
        refused: bool,
    },
    /// A client's request ended without a response from the host.
    RequestException {
        /// The request's number.
        request: u64,
        /// The request's method.
        method: Cow<'static, str>,
        /// How long it was open.
        duration: Duration,
        /// The reason.
        reason: Reason,
    },
    /// A client's message was refused without asking the host.
    RequestRefused {
        /// The error code of the refusal.
        code: i64,
    },
    /// The client cancelled a request.
    CancelReceived {
        /// The request's number.
        request: u64,
    },
    /// A notification was received.
    NotificationReceived {
        /// The notification's method.
        method: Box<str>,
    },
    /// A notification was dropped: ours because it may not be sent, or the
    /// client's because it does not apply.
    NotificationDropped {
        /// The notification's method.
        method: Cow<'static, str>,
    },
    /// The client opened a subscription stream.
    ListenStart,
    /// A subscription stream ended.
    ListenStop {
        /// How long it was open.
        duration: Duration,
    },
    /// A call to the client was sent.
    CallStart {
        /// The call's number.
        call: u64,
        /// The call's method.
        method: Cow<'static, str>,
    },
    /// A call ended with a response.
    CallStop {
        /// The call's number.
        call: u64,
        /// The call's method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Whether the response was an error.
        refused: bool,
    },
    /// A call ended without a response.
    CallException {
        /// The call's number.
        call: u64,
        /// The call's method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// The reason.
        reason: Reason,
    },
    /// A cancellation of a call was sent to the client.
    CancelSent {
        /// The call's number.
        call: u64,
    },
    /// A response to a call that was never sent.
    UnknownResponse,
    /// A response to a call that has already ended.
    LateResponse,
    /// The client violated the protocol.
    Violation {
        /// The violation.
        violation: Violation,
        /// The size of the frame.
        size: usize,
    },
    /// The server began to shut down.
    Draining {
        /// How many open requests may still finish.
        requests: usize,
    },
    /// Observations were dropped because the observer was too slow. Reported by
    /// drivers that queue observations.
    ObservationsLost {
        /// How many were dropped.
        count: usize,
    },
}

names! {
    SessionOpened => "session.open",
    RequestStart => "request.start",
    RequestStop => "request.stop",
    RequestException => "request.exception",
    RequestRefused => "request.refused",
    CancelReceived => "cancel.received",
    NotificationReceived => "notification.received",
    NotificationDropped => "notification.dropped",
    ListenStart => "listen.start",
    ListenStop => "listen.stop",
    CallStart => "call.start",
    CallStop => "call.stop",
    CallException => "call.exception",
    CancelSent => "cancel.sent",
    UnknownResponse => "response.unknown",
    LateResponse => "response.late",
    Violation => "protocol.violation",
    Draining => "connection.draining",
    ObservationsLost => "telemetry.lost",
}

impl TelemetryEvent {
    /// Truncates strings chosen by the peer, such as method names, that are
    /// longer than is worth keeping. Returns how many bytes they take
    /// afterwards. Drivers that queue observations call this first.
    pub fn truncate_strings(&mut self) -> usize {
        match self {
            Self::RequestStart { method, .. }
            | Self::RequestStop { method, .. }
            | Self::RequestException { method, .. }
            | Self::NotificationDropped { method }
            | Self::CallStart { method, .. }
            | Self::CallStop { method, .. }
            | Self::CallException { method, .. } => method.truncate(),
            Self::NotificationReceived { method } => method.truncate(),
            Self::SessionOpened { .. }
            | Self::RequestRefused { .. }
            | Self::CancelReceived { .. }
            | Self::ListenStart
            | Self::ListenStop { .. }
            | Self::CancelSent { .. }
            | Self::UnknownResponse
            | Self::LateResponse
            | Self::Violation { .. }
            | Self::Draining { .. }
            | Self::ObservationsLost { .. } => 0,
        }
    }
}
