//! What an observer may want to know, as data.
//!
//! The names and fields are stable. Payloads never appear: no parameters, no
//! results, no environment.

use std::{borrow::Cow, time::Duration};

use crate::{error::Reason, revision::Revision};

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
        what: Violation,
        /// The size of the frame concerned.
        size: usize,
    },
    /// The server began to shut down.
    Draining {
        /// How many requests may still finish.
        requests: usize,
    },
}

/// How a client can break the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// A frame that is not JSON-RPC.
    Garbage,
    /// A frame over the limit.
    Oversize,
    /// A batch where there are none.
    Batch,
    /// A second opening.
    SecondInitialize,
    /// A request of a session that was not opened.
    NotOpened,
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
    BadNotification,
}

impl Telemetry {
    /// The stable name of this observation.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionOpened { .. } => "session.open",
            Self::RequestStart { .. } => "request.start",
            Self::RequestStop { .. } => "request.stop",
            Self::RequestException { .. } => "request.exception",
            Self::RequestRefused { .. } => "request.refused",
            Self::CancelReceived { .. } => "cancel.received",
            Self::NotificationReceived { .. } => "notification.received",
            Self::NotificationDropped { .. } => "notification.dropped",
            Self::ListenStart => "listen.start",
            Self::ListenStop { .. } => "listen.stop",
            Self::CallStart { .. } => "call.start",
            Self::CallStop { .. } => "call.stop",
            Self::CallException { .. } => "call.exception",
            Self::CancelSent { .. } => "cancel.sent",
            Self::UnknownResponse => "response.unknown",
            Self::LateResponse => "response.late",
            Self::Violation { .. } => "protocol.violation",
            Self::Draining { .. } => "connection.draining",
        }
    }
}
