//! What the machine asks of the driver, and what it tells the host.

use std::borrow::Cow;

use bytes::Bytes;

use super::{CallId, Outcome, RequestContext, RequestKey, Telemetry};
use crate::{Instant, jsonrpc::RequestId, revision::Revision};

/// The next thing to do. Drain [`poll_output`](super::Connection::poll_output)
/// until it says [`Output::Idle`].
#[derive(Debug)]
pub enum Output {
    /// Send a frame, in this order.
    Send {
        /// The request of the client's that the frame belongs to: its answer,
        /// its progress, its log messages, a call made on its behalf. Transports
        /// with a stream for each request send it there.
        request: Option<RequestKey>,
        /// Whether it is an answer: nothing follows about that request. An
        /// answer about no request is one to something in the frame that was
        /// taken in last, or the end of a stream of changes.
        is_response: bool,
        /// The frame, without a line end and with none inside.
        frame: Bytes,
    },
    /// A call of ours has ended. Each call ends once.
    CallDone {
        /// Which call.
        call: CallId,
        /// How.
        outcome: Outcome,
    },
    /// Something for the host.
    Event(Event),
    /// Something for the observer.
    Telemetry(Telemetry),
    /// Close the link, once everything sent before is written.
    Close,
    /// Nothing more to do until the deadline, or until something happens.
    Idle(Option<Instant>),
}

/// Something that the host may want to know or must answer.
#[derive(Debug)]
pub enum Event {
    /// A session of the handshake era was opened.
    SessionOpened {
        /// The revision that is spoken in it.
        revision: Revision,
    },
    /// The client ended the handshake: it may be asked and told things now.
    Initialized,
    /// The client asks something. Answer with
    /// [`respond`](super::Connection::respond).
    Request {
        /// The name to answer under.
        request: RequestKey,
        /// The client's own id of it.
        id: RequestId,
        /// What it asks.
        method: Cow<'static, str>,
        /// With what parameters, verbatim.
        params: Option<Bytes>,
        /// Who asks, and under what rules.
        context: Box<RequestContext>,
    },
    /// Nobody waits for this answer any more; nothing about it will be sent.
    Cancelled {
        /// Which request.
        request: RequestKey,
        /// Why.
        reason: CancelReason,
    },
    /// A notification of the client's, in the order of arrival.
    Notification {
        /// Its method.
        method: Cow<'static, str>,
        /// Its parameters, verbatim.
        params: Option<Bytes>,
    },
    /// A resource is watched that was not, or no longer: by the session, or by
    /// one of the streams of changes, each of which counts by itself.
    /// [`watched`](super::Connection::watched) lists all that are.
    SubscriptionChanged {
        /// Which resource.
        uri: Box<str>,
        /// Whether it is watched from here on.
        is_subscribed: bool,
    },
    /// The connection has ended; nothing follows but the outcome of calls that
    /// are made in spite of it.
    Closed,
}

/// Why nobody waits for an answer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// The client called it off, perhaps saying why.
    Client(Option<Box<str>>),
    /// The link is gone.
    LinkClosed,
    /// The server was shut down, and the grace is over. The client was told.
    Shutdown,
}
