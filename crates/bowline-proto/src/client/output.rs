//! Output of the state machine: instructions to the driver and events for the host.

use std::time::Duration;

use bytes::Bytes;

use super::{
    CallId, ConnectionError, ConnectionState, LinkId, Outcome, PeerRequestId, TelemetryEvent,
};
use crate::{
    Instant,
    jsonrpc::ErrorObject,
    model::{InputRequiredResult, ProgressParams},
    revision::Revision,
};

/// The next thing for the driver to do. Drain
/// [`poll_output`](super::Connection::poll_output) until it returns [`Output::Idle`].
#[derive(Debug)]
pub enum Output {
    /// Open a link. Reply with [`Input::Up`](super::Input::Up) or
    /// [`Input::DialFailed`](super::Input::DialFailed).
    Dial {
        /// The id for the new link.
        link: LinkId,
        /// The number of failed attempts since the last success.
        attempt: u32,
        /// Which HTTP transport to use.
        http_variant: HttpVariant,
    },
    /// Close a link. No further input from it is needed; `Down` is accepted in
    /// `Closing`, where it ends the wait, and rejected in other states.
    Close {
        /// The link.
        link: LinkId,
    },
    /// Send a frame, in this order. If the link cannot send it, report
    /// [`Input::SendFailed`](super::Input::SendFailed).
    Send {
        /// The link to send on.
        link: LinkId,
        /// The request id, if the frame is a request.
        id: Option<u64>,
        /// The frame, without a line terminator or line breaks inside.
        frame: Bytes,
    },
    /// HTTP: the response to this request is no longer needed; abort the exchange.
    Abort {
        /// The link it was sent on.
        link: LinkId,
        /// The request id.
        id: u64,
    },
    /// The revision of this link has been negotiated. Transports that mark their
    /// messages with it can do so from now on.
    Negotiated {
        /// The link.
        link: LinkId,
        /// The negotiated revision.
        revision: Revision,
    },
    /// A call has ended. Each call ends exactly once.
    CallDone {
        /// The call.
        call: CallId,
        /// Its outcome.
        outcome: Outcome,
    },
    /// An event for the host.
    Event(Event),
    /// An observation.
    Telemetry(TelemetryEvent),
    /// Nothing to do until this deadline or the next input.
    Idle(Option<Instant>),
}

/// The HTTP transport to dial with. Ignored by other transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVariant {
    /// The transport that the connection was configured with.
    Streamable,
    /// The two-endpoint HTTP transport of the first revision.
    LegacySse,
}

/// An event that the host may want to know about or must answer.
#[derive(Debug)]
pub enum Event {
    /// The connection changed its state.
    StateChanged(ConnectionState),
    /// A session is open; [`server_info`](super::Connection::server_info) describes the server.
    Ready {
        /// The number of sessions this connection has had.
        session: u64,
    },
    /// The connection was lost or could not be opened.
    Disconnected {
        /// The cause.
        cause: ConnectionError,
        /// The delay before the next attempt; `None` if there will be none.
        retry_in: Option<Duration>,
    },
    /// A notification. Notifications are delivered in order of arrival.
    Notification {
        /// Its method.
        method: Box<str>,
        /// Its parameters, verbatim.
        params: Option<Bytes>,
    },
    /// Progress of a call.
    Progress {
        /// The call.
        call: CallId,
        /// The progress.
        progress: Box<ProgressParams>,
    },
    /// A request from the server that this client declared to support. Answer with
    /// [`respond`](super::Connection::respond).
    Request {
        /// The id to respond with.
        request: PeerRequestId,
        /// Its method.
        method: Box<str>,
        /// Its parameters, verbatim.
        params: Option<Bytes>,
    },
    /// The server no longer wants the response, or cannot receive it.
    RequestWithdrawn {
        /// The request.
        request: PeerRequestId,
    },
    /// A call needs the host's answers to continue. Answer with
    /// [`provide_input`](super::Connection::provide_input).
    InputRequired {
        /// The call.
        call: CallId,
        /// The number of this round, counted from 1.
        round: u32,
        /// The questions.
        questions: Box<InputRequiredResult>,
    },
    /// A call ended while the host was still being asked.
    InputWithdrawn {
        /// The call.
        call: CallId,
    },
    /// Subscriptions are active again after a gap in which changes may have been
    /// missed.
    Resubscribed {
        /// The affected resources.
        uris: Vec<Box<str>>,
    },
    /// A subscription could not be restored and was dropped.
    SubscriptionLost {
        /// The resource.
        uri: Box<str>,
        /// The server's error, if it sent one.
        error: Option<ErrorObject>,
    },
    /// The connection has ended; nothing follows.
    Ended,
}
