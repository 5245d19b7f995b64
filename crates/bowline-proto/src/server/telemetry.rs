//! What an observer may want to know, as data.
//!
//! The names and fields are stable. Payloads never appear: no parameters, no
//! results, no environment.

use std::{borrow::Cow, time::Duration};

use crate::{
    error::Reason,
    revision::Revision,
    telemetry::{TruncateString as _, names},
};

/// One observation. [`Telemetry::name`] is its stable name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Telemetry {
    /// A session of the handshake era was opened.
    SessionOpened {
        /// The revision that is spoken in it.
        revision: Revision,
    },
    /// A request of the client's was handed up.
    RequestStart {
        /// Its number.
        request: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// The revision it was made in.
        revision: Revision,
    },
    /// A request of the client's was answered.
    RequestStop {
        /// Its number.
        request: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Whether the answer was an error.
        refused: bool,
    },
    /// A request of the client's ended without an answer of the host's.
    RequestException {
        /// Its number.
        request: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it was open.
        duration: Duration,
        /// Why.
        reason: Reason,
    },
    /// A message of the client's was refused without asking the host.
    RequestRefused {
        /// The error code that it got.
        code: i64,
    },
    /// The client called a request off.
    CancelReceived {
        /// Its number.
        request: u64,
    },
    /// A notification arrived.
    NotificationReceived {
        /// Its method.
        method: Box<str>,
    },
    /// A notification was dropped: ours because nobody may hear it, or the
    /// client's because it means nothing here.
    NotificationDropped {
        /// Its method.
        method: Cow<'static, str>,
    },
    /// The client opened a stream of changes.
    ListenStart,
    /// A stream of changes ended.
    ListenStop {
        /// How long it was open.
        duration: Duration,
    },
    /// A call of ours was sent.
    CallStart {
        /// Its number.
        call: u64,
        /// Its method.
        method: Cow<'static, str>,
    },
    /// A call of ours ended with an answer.
    CallStop {
        /// Its number.
        call: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Whether the answer was an error of the client's.
        refused: bool,
    },
    /// A call of ours ended without an answer.
    CallException {
        /// Its number.
        call: u64,
        /// Its method.
        method: Cow<'static, str>,
        /// How long it took.
        duration: Duration,
        /// Why.
        reason: Reason,
    },
    /// The client was told that a call of ours is no longer wanted.
    CancelSent {
        /// The call's number.
        call: u64,
    },
    /// An answer to something that we never asked.
    UnknownResponse,
    /// An answer to something that has ended already.
    LateResponse,
    /// The client broke the protocol.
    Violation {
        /// How.
        violation: Violation,
        /// The size of the frame concerned.
        size: usize,
    },
    /// The server began to shut down.
    Draining {
        /// How many requests may still finish.
        requests: usize,
    },
    /// Observations were left out, because whoever looks on was too slow. Seen
    /// by drivers, which show observations.
    ObservationsLost {
        /// How many.
        count: usize,
    },
}

/// How a client can break the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// A frame that is not JSON-RPC.
    MalformedMessage,
    /// A frame over the limit.
    OversizedFrame,
    /// A batch where there are none.
    Batch,
    /// A second opening.
    SecondInitialize,
    /// A request of a session that was not opened.
    NoSession,
    /// The same id twice at once.
    DuplicateId,
    /// More requests at once than allowed.
    TooManyRequests,
    /// An answer where servers ask nothing.
    ClientResponse,
    /// An answer that is none.
    InvalidResponse,
    /// A notification whose parameters do not fit, or that comes at the wrong
    /// time.
    InvalidNotification,
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

impl Telemetry {
    /// Cuts texts that somebody else chose, such as the name of a method, where
    /// they are longer than is worth keeping. Says how many bytes they take
    /// then. Drivers that keep observations call this first.
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
