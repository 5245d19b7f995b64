//! The connection machine, as its driver sees it.

use super::{
    CallId, CallOptions, Config, ConnectionState, Event, Input, LinkId, ListSubscriptions, Output,
    PeerRequestId, Request, ServerInfo, SessionNumber, SessionRequirement, Telemetry,
    core::Core,
    outcome::Failure,
    request::CallKind,
    state::{State, StateInput},
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::{InputResponses, LogLevel},
    revision::Era,
};

/// One connection to one server: dialled, negotiated, used, and dialled again
/// when it falls.
///
/// # How to drive it
///
/// - **Commands** ([`start`](Self::start), [`call`](Self::call),
///   [`cancel`](Self::cancel), [`stop`](Self::stop), …) say what the host wants.
/// - **[`handle`](Self::handle)** says what happened on the link or the clock.
/// - After either, drain **[`poll_output`](Self::poll_output)** until it says
///   [`Output::Idle`], and do as it says. Its deadline is when to come back with
///   [`Input::Tick`].
/// - **[`receiving`](Self::receiving)** names the link whose next frame may be
///   delivered. When it is `None`, do not read: the peer should feel it.
///
/// Time must not go backwards. Nothing else is required: any input is accepted
/// in any state, and every call ends exactly once.
///
/// ```
/// use bowline_proto::{Instant, client::{Config, Connection, Output}};
///
/// let mut connection = Connection::new(Config::new("my-app", "1.0.0"), 42);
/// connection.start(Instant::ORIGIN);
/// loop {
///     match connection.poll_output() {
///         Output::Dial { attempt, .. } => assert_eq!(attempt, 0),
///         Output::Idle(deadline) => break assert!(deadline.is_some()),
///         _ => {}
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Connection {
    core: Core,
    state: State,
}

/// Who gave a call up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// The caller said so, perhaps with a reason for the server.
    Requested(Option<Box<str>>),
    /// Nobody waits for the answer any more.
    Dropped,
}

/// How many things a connection holds on to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Calls that have not ended.
    pub calls: usize,
    /// Further ids under which answers to them may come.
    pub aliases: usize,
    /// Armed timers of calls.
    pub timers: usize,
    /// Ids given up, whose late answers are recognised.
    pub cancelled_calls: usize,
    /// Requests of the server's that are open.
    pub peer_requests: usize,
    /// Outputs not polled yet.
    pub outputs: usize,
}

/// Commands.
impl Connection {
    /// A connection that does nothing yet. `seed` feeds its jitter; give it
    /// entropy in production and a number in tests.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            core: Core::new(config, seed),
            state: State::Starting,
        }
    }

    /// Says which era the server spoke on an earlier connection, which saves
    /// the probe. An assumption that fails is forgotten.
    pub fn assume_era(&mut self, era: Era) {
        self.core.assumed_era = Some(era);
    }

    /// Dials for the first time. Later calls do nothing.
    pub fn start(&mut self, now: Instant) {
        self.step(now, StateInput::Start);
    }

    /// Makes a call. It ends with one [`Output::Done`], which may be waiting
    /// already when this returns.
    pub fn call(&mut self, now: Instant, request: Request, options: CallOptions) -> CallId {
        self.start_call(now, CallKind::Request(request), options)
    }

    /// Asks to hear of changes to a resource, now and after every
    /// reconnection. Ends like a call.
    pub fn subscribe(&mut self, now: Instant, uri: &str, options: CallOptions) -> CallId {
        self.start_call(now, CallKind::Subscribe(uri.into()), options)
    }

    /// Ends a subscription. Ends like a call.
    pub fn unsubscribe(&mut self, now: Instant, uri: &str, options: CallOptions) -> CallId {
        self.start_call(now, CallKind::Unsubscribe(uri.into()), options)
    }

    /// Asks for log messages from `level` up, now and after every
    /// reconnection. Ends like a call.
    pub fn set_log_level(&mut self, now: Instant, level: LogLevel, options: CallOptions) -> CallId {
        self.start_call(now, CallKind::SetLevel(level), options)
    }

    /// Says which lists' changes the host wants to hear of.
    pub fn set_list_subscriptions(&mut self, now: Instant, subscriptions: ListSubscriptions) {
        if self.core.desired.lists != subscriptions {
            self.core.desired.lists = subscriptions;
            self.step(now, StateInput::ListSubscriptionsChanged);
        }
    }

    /// Gives a call up. Does nothing if it has ended.
    pub fn cancel(&mut self, now: Instant, call: CallId, cancellation: Cancellation) {
        self.step(now, StateInput::Cancel(call, cancellation));
    }

    /// Sends a notification: once, if a session is open that has such a thing.
    pub fn notify(&mut self, now: Instant, notification: OutgoingMessage) {
        self.step(now, StateInput::Notify(notification));
    }

    /// Whether a notification of this method would be sent now.
    ///
    /// # Errors
    ///
    /// Where there is no session, or the notification has no place in it.
    pub fn can_notify(&self, method: &str) -> Result<(), Failure> {
        match &self.state {
            State::Ready(ready) => ready.can_notify(&self.core, method),
            State::Closing(_) => Err(self.core.closed_failure()),
            state => Err(Failure::NotReady {
                state: state.public_state(),
                retry_in: None,
            }),
        }
    }

    /// Answers a request of the server's. Does nothing if the server does not
    /// want the answer any more.
    pub fn respond(
        &mut self,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        self.step(now, StateInput::Respond(request, reply));
    }

    /// Answers the questions of [`Event::InputRequired`](super::Event), all of
    /// them; or, with `None`, gives the call up.
    pub fn provide_input(&mut self, now: Instant, call: CallId, responses: Option<InputResponses>) {
        self.step(now, StateInput::Input(call, responses));
    }

    /// Replaces the roots that the server is told of. Announcing the change is
    /// a notification of its own.
    pub fn set_roots(&mut self, roots: Vec<crate::model::Root>) {
        self.core.config.roots = roots;
    }

    /// Stops: every caller is answered at once, and the link is closed. Says
    /// whether this was the first time.
    pub fn stop(&mut self, now: Instant) -> bool {
        let first = !matches!(self.state, State::Closing(_));
        self.step(now, StateInput::Stop);
        first
    }
}

/// What happens, and what follows from it.
impl Connection {
    /// Takes in what happened.
    pub fn handle(&mut self, now: Instant, input: Input) {
        let (link, state_input) = match input {
            Input::Tick => {
                self.tick(now);
                return;
            }
            Input::Up { link } => (link, StateInput::Up),
            Input::DialFailed { link, cause } => (link, StateInput::DialFailed(cause)),
            Input::Frame { link, frame } => (link, StateInput::Frame(frame)),
            Input::OversizedFrame { link, size, prefix } => {
                (link, StateInput::OversizedFrame { size, prefix })
            }
            Input::Down { link, cause } => (link, StateInput::Down(cause)),
            Input::SendFailed { link, id, error } => (link, StateInput::SendFailed(id, error)),
        };
        if self.state.link() == Some(link) {
            self.step(now, state_input);
        } else {
            self.core.observe(|| Telemetry::StaleLink);
        }
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Output {
        match self.core.pop_output() {
            Some(output) => output,
            None => Output::Idle(self.core.timers.next_deadline()),
        }
    }

    fn start_call(&mut self, now: Instant, kind: CallKind, options: CallOptions) -> CallId {
        let id = CallId(self.core.ids.next_id());
        let session = options.session;
        if session.is_some_and(|session| !session.belongs_to(self.core.connection_number)) {
            self.core.refuse(id, &kind, Failure::ForeignSession);
        } else {
            self.step(now, StateInput::Call(id, kind, options));
        }
        id
    }

    fn tick(&mut self, now: Instant) {
        while let Some(timer) = self.core.timers.pop_due(now) {
            self.step(now, StateInput::Timer(timer));
        }
    }

    fn step(&mut self, now: Instant, state_input: StateInput) {
        // The placeholder is never seen: `step` takes the state and gives one.
        let state = std::mem::replace(&mut self.state, State::Starting);
        let (before, had_ended) = (state.public_state(), state.has_ended());
        self.state = state.step(&mut self.core, now, state_input);
        let after = self.state.public_state();
        if before != after {
            self.core.report_transition(before, after);
        }
        if !had_ended && self.state.has_ended() {
            self.core.push_event(Event::Ended);
        }
    }
}

/// Looking.
impl Connection {
    /// The state.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.state.public_state()
    }

    /// The server, once a session is open and while it is.
    ///
    /// # Errors
    ///
    /// Where there is no session.
    pub fn server(&self) -> Result<&ServerInfo, Failure> {
        match &self.state {
            State::Ready(ready) => Ok(&ready.server),
            state => Err(Failure::NotReady {
                state: state.public_state(),
                retry_in: None,
            }),
        }
    }

    /// The roots that the server is told of, if it asks and the capability is
    /// declared.
    #[must_use]
    pub fn roots(&self) -> &[crate::model::Root] {
        &self.core.config.roots
    }

    /// The link whose next frame may be delivered.
    #[must_use]
    pub fn readable_link(&self) -> Option<LinkId> {
        match &self.state {
            State::Opening(opening) if opening.is_up() => Some(opening.link()),
            State::Ready(ready) => Some(ready.link()),
            State::Starting | State::Opening(_) | State::Backoff | State::Closing(_) => None,
        }
    }

    /// Whether it is over: stopped, confirmed, and nothing will follow.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.state.has_ended()
    }

    /// The session that is open, to bind calls to it. None where there is no
    /// session, or the server keeps nothing between two calls.
    #[must_use]
    pub fn session(&self) -> Option<SessionNumber> {
        match &self.state {
            State::Ready(ready) => ready.session(&self.core),
            _ => None,
        }
    }

    /// Whether calls need the session, as far as is known.
    #[must_use]
    pub fn session_requirement(&self) -> SessionRequirement {
        match &self.state {
            State::Ready(ready) => ready.session_requirement(),
            _ => SessionRequirement::Optional,
        }
    }

    /// What the connection holds on to. At rest, all of it is zero but the
    /// tombstones, which expire.
    #[must_use]
    pub fn stats(&self) -> ConnectionStats {
        ConnectionStats {
            calls: self.core.calls.len(),
            aliases: self.core.calls.alias_count(),
            timers: self.core.timers.armed_call_timers(),
            cancelled_calls: self.core.cancelled_calls.len(),
            peer_requests: match &self.state {
                State::Ready(ready) => ready.peer_request_count(),
                _ => 0,
            },
            outputs: self.core.outputs_pending(),
        }
    }
}

impl Cancellation {
    /// The outcome of a call that was given up.
    pub(super) fn failure(&self) -> Failure {
        Failure::Cancelled
    }

    /// What the server is told.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Requested(Some(reason)) => reason,
            Self::Requested(None) => "cancelled by the caller",
            Self::Dropped => "no longer needed",
        }
    }
}
