//! Outputs of the state machine, for the driver and the host.

use std::borrow::Cow;

use bytes::Bytes;

use super::{CallId, Outcome, RequestContext, RequestKey, RequestParams, TelemetryEvent};
use crate::{Instant, jsonrpc::RequestId, revision::Revision};

/// The next thing to do. Drain [`poll_output`](super::Connection::poll_output)
/// until it returns [`Output::Idle`].
#[derive(Debug)]
pub enum Output {
    /// Send a frame. Frames must be sent in the order of these outputs.
    Send {
        /// The client's request that the frame belongs to: its response, its
        /// progress, its log messages, a call made on its behalf. Transports
        /// with one stream per request send it on that stream.
        request: Option<RequestKey>,
        /// Whether the frame is a response: nothing follows about that request.
        /// A response without a request answers something in the last frame
        /// received, or ends a subscription stream.
        is_response: bool,
        /// The frame, without a line ending and with none inside.
        frame: Bytes,
    },
    /// A call has ended. Each call ends once.
    CallDone {
        /// The call.
        call: CallId,
        /// How it ended.
        outcome: Outcome,
    },
    /// An event for the host.
    Event(Event),
    /// An observation for telemetry.
    Telemetry(TelemetryEvent),
    /// Close the link once everything sent before is written.
    Close,
    /// Nothing more to do until the deadline or the next input.
    Idle(Option<Instant>),
}

/// Something that the host may want to know or must answer.
#[derive(Debug)]
pub enum Event {
    /// A session of the handshake era was opened.
    SessionOpened {
        /// The revision of the session.
        revision: Revision,
    },
    /// The client completed the handshake: it may be called and notified now.
    Initialized,
    /// A request from the client. Answer it with
    /// [`respond`](super::Connection::respond).
    Request {
        /// The key to answer under.
        request: RequestKey,
        /// The client's id of the request.
        id: RequestId,
        /// The method.
        method: Cow<'static, str>,
        /// The parameters, verbatim.
        params: Option<RequestParams>,
        /// The client and the rules of the request.
        context: Box<RequestContext>,
    },
    /// A request no longer needs an answer; nothing more is sent about it.
    Cancelled {
        /// The request.
        request: RequestKey,
        /// Why.
        reason: CancelReason,
    },
    /// A notification from the client, in order of arrival.
    Notification {
        /// Its method.
        method: Cow<'static, str>,
        /// Its parameters, verbatim.
        params: Option<Bytes>,
    },
    /// A subscription to a resource began or ended: the session's, or a
    /// subscription stream's, each of which counts separately.
    /// [`subscribed_uris`](super::Connection::subscribed_uris) lists all of
    /// them.
    SubscriptionChanged {
        /// The resource.
        uri: Box<str>,
        /// Whether the subscription began.
        is_subscribed: bool,
    },
    /// The connection has ended. Nothing follows except the outcomes of calls
    /// made after this.
    Closed,
}

/// Why a request no longer needs an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// The client cancelled it, with an optional reason.
    Client(Option<Box<str>>),
    /// The link is lost.
    LinkClosed,
    /// The server was shut down and the grace period is over. The client was
    /// notified.
    Shutdown,
}
