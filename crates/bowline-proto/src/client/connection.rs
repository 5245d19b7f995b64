//! The client state machine's interface for drivers.

use super::{
    CallId, CallOptions, Config, ConnectionState, Event, Input, LinkId, ListSubscriptions, Output,
    PeerRequestId, PreparedQuestions, Request, ServerInfo, SessionNumber, SessionRequirement,
    TelemetryEvent,
    core::Core,
    desired_state::DesiredChange,
    failure::Failure,
    request::CallKind,
    state::{State, StateInput},
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::{InputRequests, InputResponses, LogLevel},
    revision::Era,
    task::Dialect,
};

/// A connection to one server: dials, negotiates, carries calls, and redials when the
/// link is lost.
///
/// # How to drive it
///
/// - **Commands** ([`start`](Self::start), [`call`](Self::call),
///   [`cancel`](Self::cancel), [`stop`](Self::stop), …) express what the host wants.
/// - **[`handle`](Self::handle)** reports what happened on the link or the clock.
/// - After either, drain **[`poll_output`](Self::poll_output)** until it returns
///   [`Output::Idle`], and execute each output. The deadline in `Idle` is when to send
///   [`Input::Tick`].
/// - **[`readable_link`](Self::readable_link)** returns the link whose next frame may
///   be delivered. When it is `None`, do not read, so the peer sees backpressure.
///
/// Time must not go backwards. There are no other requirements: any input is accepted
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

/// Why a call was cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// The caller cancelled it, optionally with a reason for the server.
    Requested(Option<Box<str>>),
    /// The caller dropped the call and no longer waits for the response.
    Dropped,
}

/// The number of items a connection holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Calls that have not ended.
    pub calls: usize,
    /// Additional request ids under which responses to calls may arrive.
    pub aliases: usize,
    /// Armed timers of calls.
    pub timers: usize,
    /// Ids of cancelled calls, kept to recognise late responses.
    pub cancelled_calls: usize,
    /// Open requests from the server.
    pub peer_requests: usize,
    /// Outputs that have not been polled.
    pub outputs: usize,
}

/// Commands.
impl Connection {
    /// Creates a connection that is not started. `seed` seeds the jitter; use entropy
    /// in production and a constant in tests.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            core: Core::new(config, seed),
            state: State::Starting,
        }
    }

    /// Sets the era the server spoke on an earlier connection, which saves the probe.
    /// An assumption that turns out wrong is discarded.
    pub fn assume_era(&mut self, era: Era) {
        self.core.assumed_era = Some(era);
    }

    /// Dials for the first time. Later calls do nothing.
    pub fn start(&mut self, now: Instant) {
        self.step(now, StateInput::Start);
    }

    /// Starts a call. It ends with one [`Output::CallDone`], which may already be
    /// queued when this returns.
    pub fn call(&mut self, now: Instant, request: Request, options: CallOptions) -> CallId {
        self.start_call(now, CallKind::Request(request), options)
    }

    /// Subscribes to changes of a resource, now and after every reconnection. Ends like
    /// a call.
    pub fn subscribe(&mut self, now: Instant, uri: &str, options: CallOptions) -> CallId {
        self.start_call(
            now,
            CallKind::Change(DesiredChange::Subscribe(uri.into())),
            options,
        )
    }

    /// Unsubscribes from a resource. Ends like a call.
    pub fn unsubscribe(&mut self, now: Instant, uri: &str, options: CallOptions) -> CallId {
        self.start_call(
            now,
            CallKind::Change(DesiredChange::Unsubscribe(uri.into())),
            options,
        )
    }

    /// Requests log messages at `level` and above, now and after every reconnection.
    /// Ends like a call.
    pub fn set_log_level(&mut self, now: Instant, level: LogLevel, options: CallOptions) -> CallId {
        self.start_call(
            now,
            CallKind::Change(DesiredChange::SetLevel(level)),
            options,
        )
    }

    /// Sets the lists whose changes the host wants to be notified about.
    pub fn set_list_subscriptions(&mut self, now: Instant, subscriptions: ListSubscriptions) {
        if self.core.desired.lists != subscriptions {
            self.core.desired.lists = subscriptions;
            self.step(now, StateInput::ListSubscriptionsChanged);
        }
    }

    /// Subscribes to changes of a task, now and after every reconnection, where that needs
    /// a subscription. Changes arrive as notifications, if the server sends any: a task
    /// has to be polled anyway.
    pub fn watch_task(&mut self, now: Instant, task: &str) {
        if self.core.desired.tasks.insert(task.into()) {
            self.step(now, StateInput::ListSubscriptionsChanged);
        }
    }

    /// Ends what [`watch_task`](Self::watch_task) began.
    pub fn unwatch_task(&mut self, now: Instant, task: &str) {
        if self.core.desired.tasks.remove(task) {
            self.step(now, StateInput::ListSubscriptionsChanged);
        }
    }

    /// Cancels a call. Does nothing if it has ended.
    pub fn cancel(&mut self, now: Instant, call: CallId, cancellation: Cancellation) {
        self.step(now, StateInput::Cancel(call, cancellation));
    }

    /// Cancels a task that nobody waits for any more, once a session is open. The server
    /// may end it otherwise, or not at all.
    pub fn cancel_task(&mut self, now: Instant, task: &str) {
        if let Some(request) = Request::cancel_task(task)
            && !matches!(self.state, State::Closing(_))
        {
            self.call(now, request, CallOptions::for_task());
        }
    }

    /// Sends a notification once, if a session is open and its revision allows it.
    pub fn notify(&mut self, now: Instant, notification: OutgoingMessage) {
        self.step(now, StateInput::Notify(notification));
    }

    /// Returns whether a notification with this method would be sent now.
    ///
    /// # Errors
    ///
    /// Returns the reason if no session is open or the notification is not allowed in
    /// it.
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

    /// Responds to a request from the server. Does nothing if the server no longer
    /// wants the response.
    pub fn respond(
        &mut self,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        self.step(now, StateInput::Respond(request, reply));
    }

    /// Answers all questions of an [`Event::InputRequired`](super::Event), or, with
    /// `None`, ends the call.
    pub fn provide_input(&mut self, now: Instant, call: CallId, responses: Option<InputResponses>) {
        self.step(now, StateInput::Answers(call, responses));
    }

    /// Replaces the roots reported to the server. Does not send a notification about
    /// the change.
    pub fn set_roots(&mut self, roots: Vec<crate::model::Root>) {
        self.core.config.roots = roots;
    }

    /// Stops the connection: ends every call immediately and closes the link. Returns
    /// whether this was the first call of `stop`.
    pub fn stop(&mut self, now: Instant) -> bool {
        let first = !matches!(self.state, State::Closing(_));
        self.step(now, StateInput::Stop);
        first
    }
}

/// Input and output.
impl Connection {
    /// Handles an input.
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
            self.core.observe(|| TelemetryEvent::StaleLink);
        }
    }

    /// Returns the next output.
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
        // The placeholder is never observed: `step` consumes the state and returns the
        // next.
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

/// Accessors.
impl Connection {
    /// Returns the current state.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.state.public_state()
    }

    /// Returns the server's description while a session is open.
    ///
    /// # Errors
    ///
    /// Returns an error if no session is open.
    pub fn server_info(&self) -> Result<&ServerInfo, Failure> {
        match &self.state {
            State::Ready(ready) => Ok(&ready.server),
            state => Err(Failure::NotReady {
                state: state.public_state(),
                retry_in: None,
            }),
        }
    }

    /// Returns how the open session speaks of tasks, if its revision has them.
    #[must_use]
    pub fn task_dialect(&self) -> Option<Dialect> {
        match &self.state {
            State::Ready(ready) => Dialect::of(&ready.rules.features),
            _ => None,
        }
    }

    /// Checks that the questions of a task are about what this client offers, and
    /// answers those about roots.
    ///
    /// # Errors
    ///
    /// Returns the failure of the call if the server asks for something else.
    pub fn prepare_questions(
        &self,
        questions: InputRequests,
    ) -> Result<PreparedQuestions, Failure> {
        self.core.prepare_questions(questions)
    }

    /// Returns the roots reported to the server if it asks and the capability is
    /// declared.
    #[must_use]
    pub fn roots(&self) -> &[crate::model::Root] {
        &self.core.config.roots
    }

    /// Returns the link whose next frame may be delivered.
    #[must_use]
    pub fn readable_link(&self) -> Option<LinkId> {
        match &self.state {
            State::Opening(opening) if opening.is_up() => Some(opening.link()),
            State::Ready(ready) => Some(ready.link()),
            State::Starting | State::Opening(_) | State::Backoff | State::Closing(_) => None,
        }
    }

    /// Returns whether the connection has stopped and will produce no further events.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.state.has_ended()
    }

    /// Returns the open session, to bind calls to it. `None` if no session is open or
    /// the server keeps no state between calls.
    #[must_use]
    pub fn session(&self) -> Option<SessionNumber> {
        match &self.state {
            State::Ready(ready) => ready.session(&self.core),
            _ => None,
        }
    }

    /// Returns whether calls need the session, as far as is known.
    #[must_use]
    pub fn session_requirement(&self) -> SessionRequirement {
        match &self.state {
            State::Ready(ready) => ready.session_requirement(),
            _ => SessionRequirement::Optional,
        }
    }

    /// Returns how many items the connection holds. When idle, all are zero except the
    /// cancelled calls, which expire.
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
    /// Returns the failure that a cancelled call ends with.
    pub(super) fn failure(&self) -> Failure {
        Failure::Cancelled
    }

    /// Returns the reason that is sent to the server.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Requested(Some(reason)) => reason,
            Self::Requested(None) => "cancelled by the caller",
            Self::Dropped => "no longer needed",
        }
    }
}
