//! What the machine asks of the driver, and what it tells the host.

use std::time::Duration;

use bytes::Bytes;

use super::{CallId, ConnectionError, ConnectionState, LinkId, Outcome, PeerRequestId, Telemetry};
use crate::{
    Instant,
    jsonrpc::ErrorObject,
    model::{InputRequiredResult, ProgressParams},
    revision::Revision,
};

/// The next thing to do. Drain [`poll_output`](super::Connection::poll_output)
/// until it says [`Output::Idle`].
#[derive(Debug)]
pub enum Output {
    /// Open a link. Answer with `Up` or `DialFailed`.
    Dial {
        /// The name of the link to be.
        link: LinkId,
        /// How many attempts have failed since the last success.
        attempt: u32,
        /// Which transport to use, where there is a choice.
        http_variant: HttpVariant,
    },
    /// Close a link. It has nothing more to say; `Down` is welcome in
    /// `Closing`, where it ends the wait, and refused elsewhere.
    Close {
        /// Which one.
        link: LinkId,
    },
    /// Send a frame, in this order. A link that cannot take it says so with
    /// [`Input::Refused`](super::Input::Refused).
    Send {
        /// Over which link.
        link: LinkId,
        /// The id, where the frame is a request.
        id: Option<u64>,
        /// The frame, without a line end and with none inside.
        frame: Bytes,
    },
    /// HTTP: nobody waits for the answer to this request any more; let go of
    /// the exchange.
    Abort {
        /// Over which link it went.
        link: LinkId,
        /// The request.
        id: u64,
    },
    /// The revision of this link is settled: transports that mark their
    /// messages with it can do so from now on.
    Negotiated {
        /// Which link.
        link: LinkId,
        /// The revision that is spoken on it.
        revision: Revision,
    },
    /// A call has ended. Each call ends once.
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
    /// Nothing more to do until the deadline, or until something happens.
    Idle(Option<Instant>),
}

/// Which HTTP transport a dial is for. Other transports have no choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVariant {
    /// The transport that the connection was configured with.
    Streamable,
    /// The two-endpoint HTTP transport of the first revision.
    LegacySse,
}

/// Something that the host may want to know or must answer.
#[derive(Debug)]
pub enum Event {
    /// The connection changed its state.
    StateChanged(ConnectionState),
    /// A session is open; [`server`](super::Connection::server) describes it.
    Ready {
        /// How many sessions this connection has had.
        session: u64,
    },
    /// The connection fell or did not come up.
    Disconnected {
        /// Why.
        cause: ConnectionError,
        /// When the next attempt is due; never, if it was the last.
        retry_in: Option<Duration>,
    },
    /// A notification, in the order of arrival.
    Notification {
        /// Its method.
        method: Box<str>,
        /// Its parameters, verbatim.
        params: Option<Bytes>,
    },
    /// Progress of a call.
    Progress {
        /// Which call.
        call: CallId,
        /// What the server said.
        progress: Box<ProgressParams>,
    },
    /// The server asks something that we declared to answer. Answer with
    /// [`respond`](super::Connection::respond).
    Request {
        /// The name to answer under.
        request: PeerRequestId,
        /// What it asks.
        method: Box<str>,
        /// With what parameters, verbatim.
        params: Option<Bytes>,
    },
    /// The server does not want the answer any more, or cannot get it.
    RequestWithdrawn {
        /// Which request.
        request: PeerRequestId,
    },
    /// A call cannot go on without the host's answers. Answer with
    /// [`provide_input`](super::Connection::provide_input).
    InputRequired {
        /// Which call.
        call: CallId,
        /// The how-manieth round this is, from 1.
        round: u32,
        /// The questions.
        questions: Box<InputRequiredResult>,
    },
    /// A call ended while the host was still being asked.
    InputWithdrawn {
        /// Which call.
        call: CallId,
    },
    /// Subscriptions are in force again after a gap, in which changes may have
    /// been missed.
    Resubscribed {
        /// The resources concerned.
        uris: Vec<Box<str>>,
    },
    /// A subscription could not be restored and is forgotten.
    SubscriptionLost {
        /// The resource.
        uri: Box<str>,
        /// What the server said, if it said anything.
        error: Option<ErrorObject>,
    },
    /// The connection has ended; nothing follows.
    Ended,
}
