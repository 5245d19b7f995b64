//! The machine, the link and the waiters, behind one lock.
//!
//! Handlers and the driver task meet here. After every command to the machine,
//! its outputs are processed at once, under the lock. The lock is never held
//! across an await or while user code runs.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::SystemTime,
};

use bytes::Bytes;
use tokio::{sync::oneshot, task::AbortHandle, time::Instant as Clock};

use super::{
    frame_sink::FrameSink,
    job_queue::{Job, NotificationJob},
    observations::Observation,
    pending_notices::PendingNotices,
    request_queue::RequestQueue,
    state_guard::StateGuard,
};
use crate::{
    observation_queue::ObservationQueue,
    proto::{
        Instant,
        model::{InputRequest, TaskChangedParams},
        server::{
            CallId, CallOptions, Connection, Event, Input, ListKind, Outcome, Output, Reply,
            RequestKey, TelemetryEvent,
        },
    },
    server::{
        auth::permissions::Permissions,
        dispatch::request::{
            IncomingNotification, Request, RequestHandler, RequestOrigin, SubscriptionChange,
        },
        service::ServeOptions,
    },
    sync,
    transport::{Link, OutgoingFrame, SendError},
};

/// How many bytes may be queued before progress and log messages are dropped: a
/// client that does not read must not fill the memory.
const MAX_BACKLOG_BYTES: usize = 1024 * 1024;

/// The state shared by handlers and the driver.
pub(crate) struct SharedConnection {
    inner: Mutex<Inner>,
    started: Clock,
    pub(super) serve_options: ServeOptions,
    principal: Option<Arc<str>>,
    /// Its number in this process.
    connection_id: u64,
}

/// The number of connections so far.
static NEXT_CONNECTION_ID: AtomicU64 = AtomicU64::new(0);

pub(super) struct Inner {
    pub(super) machine: Connection,
    pub(super) link: Option<Box<dyn Link>>,
    /// The destination of frames if there is no link.
    sink: Option<Box<dyn FrameSink>>,
    /// Frames that the link had no room for.
    backlog: VecDeque<Bytes>,
    backlog_bytes: usize,
    /// Changes to report once the client reads again.
    pending_notices: PendingNotices,
    /// The permissions of the sender of frames.
    pub(super) permissions: Permissions,
    /// The caller that the work is charged to.
    pub(super) origin: RequestOrigin,
    /// Requests that are not dispatched yet.
    pub(super) requests: RequestQueue,
    /// Notifications that are not dispatched yet.
    pub(super) notifications: Vec<IncomingNotification>,
    /// Handler runs for notifications, in order.
    pub(super) notification_jobs: VecDeque<NotificationJob>,
    /// The task that runs them.
    pub(super) notification_task: Option<AbortHandle>,
    /// Subscription changes not reported yet.
    pub(super) subscription_changes: Vec<SubscriptionChange>,
    /// How often subscriptions changed so far.
    pub(super) subscription_version: u64,
    /// Jobs that wait for capacity.
    pub(super) queued_jobs: VecDeque<Job>,
    pub(super) running: BTreeMap<RequestKey, AbortHandle>,
    pub(super) observations: ObservationQueue<Observation>,
    waiters: HashMap<CallId, oneshot::Sender<Outcome>>,
    pub(super) deadline: Option<Instant>,
    pub(super) driver_waker: Option<Waker>,
    /// The deadline being waited for, if there is no link.
    pub(super) timer_deadline: Option<Instant>,
    /// When the client closed its end: it sends no more, and will answer no questions.
    pub(super) input_closed_at: Option<Instant>,
    pub(super) ended: bool,
    /// Whether serving has ended.
    is_stopped: bool,
}

/// A pending question. Dropping it cancels it.
pub(super) struct PendingQuestion<'a> {
    shared: &'a Arc<SharedConnection>,
    call: CallId,
    pub(super) outcome: oneshot::Receiver<Outcome>,
    pub(super) ended: bool,
}

impl Drop for PendingQuestion<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.shared
                .command(|machine, now| machine.cancel(now, self.call));
        }
    }
}

impl SharedConnection {
    pub(super) fn new(
        machine: Connection,
        link: Box<dyn Link>,
        serve_options: ServeOptions,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        let shared = Self::with_io(Some(link), None, machine, serve_options, principal);
        shared.lock().permissions = Permissions::AllScopes;
        shared
    }

    /// Creates a connection whose frames go to a sink.
    #[cfg(feature = "http-server")]
    pub(crate) fn with_sink(
        machine: Connection,
        sink: Box<dyn FrameSink>,
        serve_options: ServeOptions,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        Self::with_io(None, Some(sink), machine, serve_options, principal)
    }

    fn with_io(
        link: Option<Box<dyn Link>>,
        sink: Option<Box<dyn FrameSink>>,
        machine: Connection,
        serve_options: ServeOptions,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                machine,
                link,
                sink,
                backlog: VecDeque::new(),
                backlog_bytes: 0,
                pending_notices: PendingNotices::default(),
                permissions: Permissions::default(),
                origin: RequestOrigin::from_principal(principal.as_ref()),
                requests: RequestQueue::default(),
                notifications: Vec::new(),
                notification_jobs: VecDeque::new(),
                notification_task: None,
                subscription_changes: Vec::new(),
                subscription_version: 0,
                queued_jobs: VecDeque::new(),
                running: BTreeMap::new(),
                observations: ObservationQueue::default(),
                waiters: HashMap::new(),
                deadline: None,
                driver_waker: None,
                timer_deadline: None,
                input_closed_at: None,
                ended: false,
                is_stopped: false,
            }),
            started: Clock::now(),
            serve_options,
            principal,
            connection_id: NEXT_CONNECTION_ID.fetch_add(1, Ordering::Relaxed) + 1,
        })
    }

    pub(super) fn lock(&self) -> StateGuard<'_> {
        StateGuard::new(self, self.lock_inner())
    }

    /// Like [`lock`](Self::lock), without calling observers afterwards.
    pub(super) fn lock_inner(&self) -> MutexGuard<'_, Inner> {
        // A panic under the lock would be our bug; later requests should still
        // get a response.
        sync::lock(&self.inner)
    }

    pub(super) fn now(&self) -> Instant {
        Instant::after_origin(self.started.elapsed())
    }

    /// Converts an instant of the machine to tokio's clock.
    pub(super) fn to_tokio_instant(&self, instant: Instant) -> Clock {
        self.started + instant.since_origin()
    }

    /// Runs a command on the machine and processes its outputs.
    pub(crate) fn command<T>(&self, action: impl FnOnce(&mut Connection, Instant) -> T) -> T {
        let now = self.now();
        let mut inner = self.lock();
        let result = action(&mut inner.machine, now);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        result
    }

    /// Sends a notification about a request that may be dropped.
    pub(super) fn send_optional(
        &self,
        request: RequestKey,
        action: impl FnOnce(&mut Connection) -> bool,
    ) -> bool {
        let now = self.now();
        let mut inner = self.lock();
        let sink = inner.sink.as_ref();
        if inner.is_backlogged() || sink.is_some_and(|sink| sink.is_backlogged(request)) {
            return false;
        }
        let is_sent = action(&mut inner.machine);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        is_sent
    }

    /// Reads the state of the machine.
    pub(crate) fn inspect<T>(&self, read: impl FnOnce(&Connection) -> T) -> T {
        read(&self.lock().machine)
    }

    /// Notifies that a list changed; later, if the client does not read.
    pub(crate) fn list_changed(&self, kind: ListKind) {
        let now = self.now();
        let mut inner = self.lock();
        if inner.is_backlogged() {
            inner.pending_notices.add_list(kind);
            return;
        }
        inner.machine.list_changed(kind);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
    }

    /// Notifies that a resource changed, if it is subscribed to; later, if the
    /// client does not read. Returns whether it is.
    pub(crate) fn resource_updated(&self, uri: &str) -> bool {
        let now = self.now();
        let mut inner = self.lock();
        if inner.is_backlogged() {
            let is_subscribed = inner.machine.is_subscribed(uri);
            if is_subscribed {
                inner.pending_notices.add_resource(uri);
            }
            return is_subscribed;
        }
        let is_sent = inner.machine.resource_updated(uri);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        is_sent
    }

    /// Returns the principal of the client, if it is known.
    pub(crate) fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// Notifies that a task changed, if a stream asks for it; later, if the client
    /// does not read.
    pub(crate) fn task_changed(&self, params: &TaskChangedParams) {
        let now = self.now();
        let mut inner = self.lock();
        if !inner.machine.is_subscribed_to_task(&params.task_id) {
            return;
        }
        if inner.is_backlogged() {
            inner.pending_notices.add_task(params);
            return;
        }
        inner.machine.task_changed(params);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
    }

    /// Sends the backlog to the link, and then the pending notices.
    pub(super) fn flush_backlog(&self, inner: &mut Inner, now: Instant) {
        if inner.is_flushed() && inner.pending_notices.is_empty() {
            return;
        }
        inner.flush_backlog(now);
        if inner.is_flushed() {
            inner.pending_notices.flush(&mut inner.machine);
        }
        self.process_outputs(inner, now);
    }

    /// Sends a question to the client. `None` if it will not answer anymore.
    pub(super) fn ask<'a>(
        self: &'a Arc<Self>,
        question: InputRequest,
        options: &CallOptions,
    ) -> Option<PendingQuestion<'a>> {
        let now = self.now();
        let mut inner = self.lock();
        if inner.input_closed_at.is_some() {
            return None;
        }
        let call = inner.machine.call(now, question, options);
        let (sender, outcome) = oneshot::channel();
        inner.waiters.insert(call, sender);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        Some(PendingQuestion {
            shared: self,
            call,
            outcome,
            ended: false,
        })
    }

    /// Responds to a request.
    pub(super) fn respond(
        &self,
        inner: &mut Inner,
        now: Instant,
        request: RequestKey,
        reply: Reply,
    ) {
        inner.machine.respond(now, request, reply);
        self.process_outputs(inner, now);
    }

    /// Ends serving and cancels everything started for it.
    pub(super) fn stop_serving(&self, handler: &Arc<dyn RequestHandler>) {
        let mut inner = self.lock();
        if std::mem::replace(&mut inner.is_stopped, true) {
            return;
        }
        inner.ended = true;
        inner.drop_all();
        inner.backlog.clear();
        inner.backlog_bytes = 0;
        let link = inner.link.take();
        let now = self.now();
        inner.machine.handle(now, Input::Closed);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        drop(inner);
        drop(link);
        // The subscriptions of this client end.
        self.report_subscription_changes(handler);
    }

    /// Reports subscription changes to the handler.
    pub(crate) fn report_subscription_changes(&self, handler: &Arc<dyn RequestHandler>) {
        let changes = std::mem::take(&mut self.lock().subscription_changes);
        if !changes.is_empty() {
            handler.subscriptions_changed(changes);
        }
    }

    /// Processes the outputs of the machine.
    pub(super) fn process_outputs(&self, inner: &mut Inner, now: Instant) {
        loop {
            match inner.machine.poll_output() {
                Output::Send {
                    request,
                    is_response,
                    frame,
                } => match &mut inner.sink {
                    Some(sink) => sink.send(request, is_response, frame),
                    None => inner.send(now, frame),
                },
                Output::CallDone { call, outcome } => {
                    if let Some(waiter) = inner.waiters.remove(&call) {
                        // The receiver may have been dropped.
                        let _ = waiter.send(outcome);
                    }
                }
                Output::Event(event) => self.handle_event(inner, event),
                Output::Telemetry(telemetry) => {
                    if self.serve_options.has_observers() {
                        inner.observations.push(self.observation(telemetry));
                    }
                }
                Output::Close => inner.ended = true,
                Output::Idle(deadline) => {
                    inner.requests.end_frame();
                    inner.deadline = deadline;
                    return;
                }
            }
        }
    }

    fn handle_event(&self, inner: &mut Inner, event: Event) {
        match event {
            Event::Request {
                request,
                id,
                method,
                params,
                context,
            } => {
                let new_request = Request {
                    id,
                    method,
                    params,
                    context,
                    principal: self.principal.clone(),
                    permissions: inner.permissions.clone(),
                    origin: inner.origin.clone(),
                    validation_budget: None,
                };
                inner.requests.push(request, new_request);
            }
            Event::Cancelled { request, .. } => {
                inner.cancel_request(request);
                if let Some(sink) = &mut inner.sink {
                    sink.cancelled(request);
                }
            }
            Event::Closed => inner.ended = true,
            Event::Notification { method, params } => {
                inner.notifications.push(IncomingNotification {
                    method,
                    params,
                    principal: self.principal.clone(),
                    _origin: inner.origin.clone(),
                });
            }
            Event::SubscriptionChanged { uri, is_subscribed } => {
                inner.subscription_version += 1;
                inner
                    .subscription_changes
                    .push(SubscriptionChange { uri, is_subscribed });
            }
            Event::SessionOpened { .. } | Event::Initialized => {}
        }
    }

    /// Closes the connection that carries the frames for a request, so its
    /// client resumes. Returns whether that was done.
    pub(super) fn release_connection(&self, request: RequestKey) -> bool {
        let sink = &mut self.lock().sink;
        sink.as_mut()
            .is_some_and(|sink| sink.release_connection(request))
    }

    /// Creates an observation of this connection.
    fn observation(&self, event: TelemetryEvent) -> Observation {
        Observation {
            server: Arc::clone(&self.serve_options.server_name),
            connection: self.connection_id,
            at: SystemTime::now(),
            event,
        }
    }

    /// Calls the observers. This is user code called from ours: a panic must
    /// not propagate, and no lock may be held.
    pub(super) fn observe(&self, observation: &Observation) {
        #[cfg(feature = "tracing")]
        let _ = catch_unwind(AssertUnwindSafe(|| {
            crate::server::tracing_events::emit(observation);
        }));
        if let Some(observer) = &self.serve_options.observer {
            let _ = catch_unwind(AssertUnwindSafe(|| observer(observation)));
        }
    }
}

impl Inner {
    pub(super) fn wake_driver(&self) {
        // Without a link, the driver only runs timers and pending work.
        let has_work = !self.subscription_changes.is_empty() || self.requests.has_deferred();
        let must_wake = has_work || self.ended;
        if self.link.is_none() && self.deadline == self.timer_deadline && !must_wake {
            return;
        }
        if let Some(driver) = &self.driver_waker {
            driver.wake_by_ref();
        }
    }

    /// Returns whether so much is queued that optional messages are dropped.
    fn is_backlogged(&self) -> bool {
        self.backlog_bytes > MAX_BACKLOG_BYTES
    }

    /// Returns whether all frames were handed to the link.
    pub(super) fn is_flushed(&self) -> bool {
        self.backlog.is_empty()
    }

    /// Sends the backlog to the link.
    fn flush_backlog(&mut self, now: Instant) {
        while let Some(frame) = self.backlog.pop_front() {
            self.backlog_bytes -= frame.len();
            if !self.try_send_or_queue(now, frame, true) {
                return;
            }
        }
    }

    fn send(&mut self, now: Instant, frame: Bytes) {
        if self.backlog.is_empty() {
            self.try_send_or_queue(now, frame, false);
        } else {
            self.backlog_bytes += frame.len();
            self.backlog.push_back(frame);
        }
    }

    /// Sends a frame to the link, or queues it in its place if there is no
    /// room. Returns whether it was sent.
    fn try_send_or_queue(&mut self, now: Instant, frame: Bytes, first: bool) -> bool {
        let Some(link) = &mut self.link else {
            return false;
        };
        match link.send(OutgoingFrame { id: None, frame }) {
            Ok(()) => true,
            Err(SendError::Busy(frame)) => {
                self.backlog_bytes += frame.len();
                if first {
                    self.backlog.push_front(frame);
                } else {
                    self.backlog.push_back(frame);
                }
                false
            }
            Err(_) => {
                self.backlog.clear();
                self.backlog_bytes = 0;
                self.machine.handle(now, Input::Closed);
                false
            }
        }
    }

    /// Cancels a request.
    fn cancel_request(&mut self, request: RequestKey) {
        self.queued_jobs.retain(|job| job.key != request);
        self.requests.remove(request);
        if let Some(running) = self.running.remove(&request) {
            running.abort();
        }
    }

    /// Marks the input as closed and fails pending questions.
    pub(super) fn close_input(&mut self, now: Instant) {
        self.input_closed_at = Some(now);
        self.waiters.clear();
    }

    /// Drops everything.
    pub(super) fn drop_all(&mut self) {
        self.requests.clear();
        self.notifications.clear();
        self.notification_jobs.clear();
        if let Some(task) = self.notification_task.take() {
            task.abort();
        }
        self.queued_jobs.clear();
        self.waiters.clear();
        for running in std::mem::take(&mut self.running).into_values() {
            running.abort();
        }
    }
}
