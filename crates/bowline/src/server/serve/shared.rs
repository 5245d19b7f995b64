//! The machine, the link and those who wait, behind one lock.
//!
//! Handlers and the driver's task meet here. Whoever makes the machine say
//! something carries it out at once, under the lock, which is never held across
//! a wait nor while an author's code runs.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::SystemTime,
};

use bytes::Bytes;
use tokio::{sync::oneshot, task::AbortHandle, time::Instant as Clock};

use super::{
    arrivals::Arrivals,
    observations::{Locked, Observation},
    outlet::Outlet,
    owed::Owed,
    pace::Paced,
};
use crate::{
    contained::Contained,
    observations::Observations,
    proto::{
        Instant,
        model::InputRequest,
        server::{
            CallId, CallOptions, Connection, Event, Incoming, Input, Kind, Outcome, Output, Reply,
            Telemetry,
        },
    },
    server::{
        auth::grant::Granted,
        request::{Handle, Heard, Request, SentBy, WatchChange},
        service::Serving,
    },
    transport::{BoxFuture, Link, Outgoing, Refusal},
};

/// How much may wait to be sent before progress and log messages are dropped:
/// a client that does not read must not fill the memory.
const MOST_TOLD: usize = 1024 * 1024;

/// How many notifications may wait for the author. A client that sends them
/// faster must not fill the memory.
const MOST_NOTICES: usize = 256;
/// How many bytes they may bring together, unless it is one alone.
const MOST_NOTICE_BYTES: usize = 1024 * 1024;

/// What handlers and the driver share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    origin: Clock,
    pub(super) serving: Serving,
    principal: Option<Arc<str>>,
    /// Its number, in this process.
    connection: u64,
}

/// How many connections there were.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

pub(super) struct Inner {
    pub(super) machine: Connection,
    pub(super) link: Option<Box<dyn Link>>,
    /// Where frames go where there is no link.
    outlet: Option<Box<dyn Outlet>>,
    /// Frames that the link had no room for.
    backlog: VecDeque<Bytes>,
    backlog_bytes: usize,
    /// Changes that the client is told of once it reads again.
    owed: Owed,
    /// What the sender of frames may do.
    pub(super) granted: Granted,
    /// Whom the work on them counts for.
    pub(super) sender: SentBy,
    /// Requests that nobody works on yet.
    pub(super) arrivals: Arrivals,
    /// Notifications that nobody has looked at yet.
    pub(super) heard: Vec<Heard>,
    /// The author's work on notifications, in their order.
    pub(super) notices: VecDeque<Noticing>,
    /// Who does it.
    pub(super) noticing: Option<AbortHandle>,
    /// What is watched that was not, or no longer, and nobody was told yet.
    pub(super) watch_changes: Vec<WatchChange>,
    /// How often that changed so far.
    pub(super) watch_count: u64,
    /// Work that waits for its turn.
    queued: VecDeque<Job>,
    pub(super) running: BTreeMap<Incoming, AbortHandle>,
    pub(super) observations: Observations<Observation>,
    waiting: HashMap<CallId, oneshot::Sender<Outcome>>,
    pub(super) deadline: Option<Instant>,
    pub(super) driver: Option<Waker>,
    /// The deadline that it waits for, where there is no link to drive.
    pub(super) awaited: Option<Instant>,
    /// The client has nothing more to say, and answers nothing.
    pub(super) deaf: bool,
    pub(super) ended: bool,
    /// Whether serving is over.
    given_up: bool,
}

/// The author's work on a notification.
pub(super) struct Noticing {
    pub(super) work: BoxFuture<'static, ()>,
    /// How many bytes it brought.
    pub(super) bytes: usize,
}

/// Work of the author's, for a request.
pub(super) struct Job {
    pub(super) incoming: Incoming,
    pub(super) work: Contained<Reply>,
    /// How long it holds its thread, where that is watched.
    pub(super) paced: Option<Paced>,
    /// What counts for its sender until the work is dropped.
    pub(super) charge: Option<Arc<dyn Any + Send + Sync>>,
}

/// A question that was asked. Dropping it gives it up.
pub(super) struct AskedCall<'a> {
    shared: &'a Arc<Shared>,
    call: CallId,
    pub(super) outcome: oneshot::Receiver<Outcome>,
    pub(super) ended: bool,
}

impl Drop for AskedCall<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.shared
                .command(|machine, now| machine.cancel(now, self.call));
        }
    }
}

impl Shared {
    pub(super) fn new(
        machine: Connection,
        link: Box<dyn Link>,
        serving: Serving,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        let shared = Self::over(Some(link), None, machine, serving, principal);
        shared.lock().granted = Granted::Everything;
        shared
    }

    /// A connection whose frames find their own way.
    #[cfg(feature = "http-server")]
    pub(crate) fn with_outlet(
        machine: Connection,
        outlet: Box<dyn Outlet>,
        serving: Serving,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        Self::over(None, Some(outlet), machine, serving, principal)
    }

    fn over(
        link: Option<Box<dyn Link>>,
        outlet: Option<Box<dyn Outlet>>,
        machine: Connection,
        serving: Serving,
        principal: Option<Arc<str>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                machine,
                link,
                outlet,
                backlog: VecDeque::new(),
                backlog_bytes: 0,
                owed: Owed::default(),
                granted: Granted::default(),
                sender: SentBy::named(principal.as_ref()),
                arrivals: Arrivals::default(),
                heard: Vec::new(),
                notices: VecDeque::new(),
                noticing: None,
                watch_changes: Vec::new(),
                watch_count: 0,
                queued: VecDeque::new(),
                running: BTreeMap::new(),
                observations: Observations::default(),
                waiting: HashMap::new(),
                deadline: None,
                driver: None,
                awaited: None,
                deaf: false,
                ended: false,
                given_up: false,
            }),
            origin: Clock::now(),
            serving,
            principal,
            connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed) + 1,
        })
    }

    pub(super) fn lock(&self) -> Locked<'_> {
        Locked::new(self, self.lock_quietly())
    }

    /// As [`lock`](Self::lock); nobody is shown anything afterwards.
    pub(super) fn lock_quietly(&self) -> MutexGuard<'_, Inner> {
        // A panic under the lock would be a bug of ours; whoever comes next
        // should still get an answer.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Instant {
        Instant::after_origin(self.origin.elapsed())
    }

    /// The clock's idea of a moment of the machine's.
    pub(super) fn clock(&self, moment: Instant) -> Clock {
        self.origin + moment.since_origin()
    }

    /// Does something to the machine, and carries out what follows.
    pub(crate) fn command<T>(&self, act: impl FnOnce(&mut Connection, Instant) -> T) -> T {
        let now = self.now();
        let mut inner = self.lock();
        let result = act(&mut inner.machine, now);
        self.settle(&mut inner, now);
        inner.wake_driver();
        result
    }

    /// Tells the client something about its request that it can do without.
    pub(super) fn tell(
        &self,
        request: Incoming,
        act: impl FnOnce(&mut Connection) -> bool,
    ) -> bool {
        let now = self.now();
        let mut inner = self.lock();
        let outlet = inner.outlet.as_ref();
        if inner.is_overfull() || outlet.is_some_and(|outlet| outlet.is_behind(request)) {
            return false;
        }
        let told = act(&mut inner.machine);
        self.settle(&mut inner, now);
        inner.wake_driver();
        told
    }

    /// Looks at the machine.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Connection) -> T) -> T {
        look(&self.lock().machine)
    }

    /// Says that a list changed; later, if the client does not read.
    pub(crate) fn list_changed(&self, kind: Kind) {
        let now = self.now();
        let mut inner = self.lock();
        if inner.is_overfull() {
            inner.owed.list(kind);
            return;
        }
        inner.machine.list_changed(kind);
        self.settle(&mut inner, now);
        inner.wake_driver();
    }

    /// Says that a resource changed, if it is watched; later, if the client
    /// does not read. Says whether it is.
    pub(crate) fn resource_updated(&self, uri: &str) -> bool {
        let now = self.now();
        let mut inner = self.lock();
        if inner.is_overfull() {
            let watched = inner.machine.is_watched(uri);
            if watched {
                inner.owed.resource(uri);
            }
            return watched;
        }
        let told = inner.machine.resource_updated(uri);
        self.settle(&mut inner, now);
        inner.wake_driver();
        told
    }

    /// Hands the link what it had no room for, and tells the client what it is
    /// owed.
    pub(super) fn catch_up(&self, inner: &mut Inner, now: Instant) {
        if inner.is_caught_up() && inner.owed.is_empty() {
            return;
        }
        inner.catch_up(now);
        if inner.is_caught_up() {
            inner.owed.pay(&mut inner.machine);
        }
        self.settle(inner, now);
    }

    /// Asks the client something. `None` if it will not answer any more.
    pub(super) fn ask<'a>(
        self: &'a Arc<Self>,
        question: InputRequest,
        options: &CallOptions,
    ) -> Option<AskedCall<'a>> {
        let now = self.now();
        let mut inner = self.lock();
        if inner.deaf {
            return None;
        }
        let call = inner.machine.call(now, question, options);
        let (sender, outcome) = oneshot::channel();
        inner.waiting.insert(call, sender);
        self.settle(&mut inner, now);
        inner.wake_driver();
        Some(AskedCall {
            shared: self,
            call,
            outcome,
            ended: false,
        })
    }

    /// Answers a request.
    pub(super) fn answer(&self, now: Instant, request: Incoming, reply: Reply) {
        let mut inner = self.lock();
        inner.machine.respond(now, request, reply);
        self.settle(&mut inner, now);
    }

    /// Serving is over: so is everything that was started for it.
    pub(super) fn give_up_serving(&self, handle: &Arc<dyn Handle>) {
        let mut inner = self.lock();
        if std::mem::replace(&mut inner.given_up, true) {
            return;
        }
        inner.ended = true;
        inner.let_go();
        inner.backlog.clear();
        inner.backlog_bytes = 0;
        let link = inner.link.take();
        let now = self.now();
        inner.machine.handle(now, Input::Closed);
        self.settle(&mut inner, now);
        inner.wake_driver();
        drop(inner);
        drop(link);
        // What this client watched, it watches no longer.
        self.tell_watched(handle);
    }

    /// Says what is watched that was not, or no longer.
    pub(crate) fn tell_watched(&self, handle: &Arc<dyn Handle>) {
        let changes = std::mem::take(&mut self.lock().watch_changes);
        if !changes.is_empty() {
            handle.watch_changed(changes);
        }
    }

    /// Carries out what the machine has to say.
    pub(super) fn settle(&self, inner: &mut Inner, now: Instant) {
        loop {
            match inner.machine.poll_output() {
                Output::Send {
                    about,
                    answer,
                    frame,
                } => match &mut inner.outlet {
                    Some(outlet) => outlet.send(about, answer, frame),
                    None => inner.send(now, frame),
                },
                Output::Done { call, outcome } => {
                    if let Some(waiter) = inner.waiting.remove(&call) {
                        // Who does not wait any more has given the call up.
                        let _ = waiter.send(outcome);
                    }
                }
                Output::Event(event) => self.event(inner, event),
                Output::Telemetry(seen) => {
                    if self.serving.has_observers() {
                        inner.observations.push(self.observation(seen));
                    }
                }
                Output::Hangup => inner.ended = true,
                Output::Idle(deadline) => {
                    inner.arrivals.end_frame();
                    inner.deadline = deadline;
                    return;
                }
            }
        }
    }

    fn event(&self, inner: &mut Inner, event: Event) {
        match event {
            Event::Request {
                request,
                id,
                method,
                params,
                context,
            } => {
                let arrived = Request {
                    id,
                    method,
                    params,
                    context,
                    principal: self.principal.clone(),
                    granted: inner.granted.clone(),
                    sender: inner.sender.clone(),
                    allowance: None,
                };
                inner.arrivals.push(request, arrived);
            }
            Event::Cancelled { request, .. } => {
                inner.give_up(request);
                if let Some(outlet) = &mut inner.outlet {
                    outlet.called_off(request);
                }
            }
            Event::Closed => inner.ended = true,
            Event::Notification { method, params } => inner.heard.push(Heard {
                method,
                params,
                principal: self.principal.clone(),
                _sender: inner.sender.clone(),
            }),
            Event::WatchChanged { uri, is_watched } => {
                inner.watch_count += 1;
                inner.watch_changes.push(WatchChange { uri, is_watched });
            }
            Event::Opened { .. } | Event::Initialized => {}
        }
    }

    /// Closes what carries the frames about a request, so that its client comes
    /// back for the rest. Says whether that was done.
    pub(super) fn pause(&self, request: Incoming) -> bool {
        let outlet = &mut self.lock().outlet;
        outlet.as_mut().is_some_and(|outlet| outlet.pause(request))
    }

    /// Something that was just seen.
    fn observation(&self, telemetry: Telemetry) -> Observation {
        Observation {
            server: Arc::clone(&self.serving.name),
            connection: self.connection,
            at: SystemTime::now(),
            telemetry,
        }
    }

    /// Shows something to those who look on. It is their code, called amid
    /// ours: a panic must not get out. Nothing may be locked.
    pub(super) fn observe(&self, seen: &Observation) {
        #[cfg(feature = "tracing")]
        let _ = catch_unwind(AssertUnwindSafe(|| crate::server::trace::emit(seen)));
        if let Some(observer) = &self.serving.observer {
            let _ = catch_unwind(AssertUnwindSafe(|| observer(seen)));
        }
    }
}

impl Inner {
    pub(super) fn wake_driver(&self) {
        // Without a link, all that it does is to keep the time and to look after
        // what happens by itself.
        let waits = !self.watch_changes.is_empty() || self.arrivals.has_put_off();
        let by_itself = waits || self.ended;
        if self.link.is_none() && self.deadline == self.awaited && !by_itself {
            return;
        }
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }

    /// Whether so much waits to be sent that what can be left out is.
    fn is_overfull(&self) -> bool {
        self.backlog_bytes > MOST_TOLD
    }

    /// Whether everything that was said is with the link.
    pub(super) fn is_caught_up(&self) -> bool {
        self.backlog.is_empty()
    }

    /// Hands the link what it had no room for.
    fn catch_up(&mut self, now: Instant) {
        while let Some(frame) = self.backlog.pop_front() {
            self.backlog_bytes -= frame.len();
            if !self.hand_over(now, frame, true) {
                return;
            }
        }
    }

    fn send(&mut self, now: Instant, frame: Bytes) {
        if self.backlog.is_empty() {
            self.hand_over(now, frame, false);
        } else {
            self.backlog_bytes += frame.len();
            self.backlog.push_back(frame);
        }
    }

    /// Gives a frame to the link; one that it has no room for is kept, in its
    /// place. Says whether it was taken.
    fn hand_over(&mut self, now: Instant, frame: Bytes, first: bool) -> bool {
        let Some(link) = &mut self.link else {
            return false;
        };
        match link.send(Outgoing { id: None, frame }) {
            Ok(()) => true,
            Err(Refusal::Busy(frame)) => {
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

    /// Nobody waits for an answer any more.
    fn give_up(&mut self, request: Incoming) {
        self.queued.retain(|job| job.incoming != request);
        self.arrivals.remove(request);
        if let Some(running) = self.running.remove(&request) {
            running.abort();
        }
    }

    /// Whether more work may be done at once, and none waits for its turn.
    pub(super) fn has_room(&self, at_once: usize) -> bool {
        self.queued.is_empty() && self.running.len() < at_once
    }

    pub(super) fn enqueue(&mut self, job: Job) {
        self.queued.push_back(job);
    }

    /// Takes in work on a notification, if there is not too much already.
    pub(super) fn note(&mut self, notice: Noticing) {
        let waiting: usize = self.notices.iter().map(|it| it.bytes).sum();
        let fits = self.notices.is_empty() || waiting + notice.bytes <= MOST_NOTICE_BYTES;
        if fits && self.notices.len() < MOST_NOTICES {
            self.notices.push_back(notice);
        }
    }

    /// The next work, if there may be more at once.
    pub(super) fn next_job(&mut self, at_once: usize) -> Option<Job> {
        if self.running.len() >= at_once {
            return None;
        }
        self.queued.pop_front()
    }

    /// The client will answer nothing any more: whoever asked it is told.
    pub(super) fn go_deaf(&mut self) {
        self.deaf = true;
        self.waiting.clear();
    }

    /// Everything ends here.
    pub(super) fn let_go(&mut self) {
        self.arrivals.clear();
        self.heard.clear();
        self.notices.clear();
        if let Some(noticing) = self.noticing.take() {
            noticing.abort();
        }
        self.queued.clear();
        self.waiting.clear();
        for running in std::mem::take(&mut self.running).into_values() {
            running.abort();
        }
    }
}
