//! One turn of a connection: received messages on their way to the handlers.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;

use super::{
    connection_channel::ConnectionChannel,
    job_queue::{Job, NotificationJob},
    jobs::{poll_inline, start_jobs, start_notifications},
    latency::Timed,
    request_queue::QueuedRequest,
    shared::{Inner, SharedConnection},
};
use crate::{
    catch_panic::CatchPanic,
    proto::{
        Instant,
        server::{Reply, RequestKey},
    },
    server::{
        conversation::client_channel::ClientChannel,
        dispatch::request::{
            Dispatched, HandlerReply, IncomingNotification, Request, RequestHandler,
            SubscriptionChange,
        },
    },
};

/// How many requests are dispatched in one slice. The rest of a turn waits until
/// other tasks have run.
const MAX_DISPATCHED_PER_SLICE: usize = 16;
/// The duration of a slice, exceeded by at most one request.
const DISPATCH_TIME_SLICE: Duration = Duration::from_millis(5);

/// The messages that were received since the last turn, taken under the lock to be
/// dispatched without it.
pub(super) struct Turn {
    requests: Vec<QueuedRequest>,
    /// Whether the requests were deferred by an earlier turn.
    is_deferred: bool,
    notifications: Vec<IncomingNotification>,
    subscription_changes: Vec<SubscriptionChange>,
    /// Whether more work may run concurrently, and none is queued.
    has_capacity: bool,
}

/// A turn of which one slice was dispatched.
#[must_use]
pub(super) struct DispatchedTurn {
    /// The requests after the slice.
    rest: Vec<QueuedRequest>,
    is_deferred: bool,
    notifications: Vec<NotificationJob>,
    last_reply: Option<(RequestKey, Reply)>,
    /// When the slice ended.
    now: Instant,
    /// An empty list to reuse.
    empty_list: Vec<QueuedRequest>,
}

impl Turn {
    /// Takes the messages received since the last turn.
    #[cfg(feature = "http-server")]
    pub(super) fn take_new(inner: &mut Inner, shared: &SharedConnection) -> Self {
        let requests = inner.requests.take_new();
        Self::with_requests(requests, false, inner, shared)
    }

    /// Takes deferred requests, or those received since the last turn if there
    /// are none. Returns `None` if nothing was received.
    pub(super) fn take_next(inner: &mut Inner, shared: &SharedConnection) -> Option<Self> {
        if inner.requests.is_empty()
            && inner.notifications.is_empty()
            && inner.subscription_changes.is_empty()
        {
            return None;
        }
        let is_deferred = inner.requests.has_deferred();
        let requests = if is_deferred {
            inner.requests.take_deferred(MAX_DISPATCHED_PER_SLICE)
        } else {
            inner.requests.take_new()
        };
        Some(Self::with_requests(requests, is_deferred, inner, shared))
    }

    fn with_requests(
        requests: Vec<QueuedRequest>,
        is_deferred: bool,
        inner: &mut Inner,
        shared: &SharedConnection,
    ) -> Self {
        Self {
            requests,
            is_deferred,
            notifications: std::mem::take(&mut inner.notifications),
            subscription_changes: std::mem::take(&mut inner.subscription_changes),
            has_capacity: inner.has_capacity(shared.serve_options.max_concurrent_calls),
        }
    }

    /// Dispatches one slice to the handlers. The connection must not be locked.
    /// `now` is when the slice started.
    pub(super) fn dispatch(
        mut self,
        shared: &Arc<SharedConnection>,
        handler: &Arc<dyn RequestHandler>,
        now: Instant,
    ) -> DispatchedTurn {
        if !self.subscription_changes.is_empty() {
            handler.subscriptions_changed(self.subscription_changes);
        }
        let into_job = |it: IncomingNotification| {
            let bytes = it.params.as_ref().map_or(0, Bytes::len);
            let work = handler.notify(it)?;
            Some(NotificationJob { work, bytes })
        };
        let notifications = self.notifications.into_iter().filter_map(into_job);
        let notifications = notifications.collect();
        let mut requests = self.requests.drain(..);
        let mut dispatcher = Dispatcher::new(now, self.has_capacity);
        dispatcher.dispatch_all(shared, handler, &mut requests);
        DispatchedTurn {
            rest: requests.collect(),
            is_deferred: self.is_deferred,
            notifications,
            last_reply: dispatcher.last_reply,
            now: dispatcher.now,
            empty_list: self.requests,
        }
    }
}

impl DispatchedTurn {
    /// Starts the jobs of the turn, and defers its rest until other tasks have run.
    pub(super) fn finish(self, shared: &Arc<SharedConnection>, inner: &mut Inner) {
        if let Some((key, reply)) = self.last_reply {
            shared.respond(inner, self.now, key, reply);
        }
        if self.is_deferred {
            inner.requests.requeue(self.rest);
        } else {
            inner.requests.defer(self.rest);
            inner.requests.recycle(self.empty_list);
        }
        if inner.requests.has_deferred() {
            inner.wake_driver();
        }
        for notification in self.notifications {
            inner.queue_notification(notification);
        }
        start_jobs(shared, inner);
        start_notifications(shared, inner);
    }
}

/// The state while requests are dispatched one after the other.
struct Dispatcher {
    /// When it started.
    began: Instant,
    /// How many requests were dispatched.
    dispatched: usize,
    /// The clock is read once between two measurements.
    now: Instant,
    /// Whether more work may run concurrently, and none is queued.
    has_capacity: bool,
    /// The reply that is still to be sent: the last one, so a single request
    /// needs no lock of its own.
    last_reply: Option<(RequestKey, Reply)>,
}

impl Dispatcher {
    fn new(now: Instant, has_capacity: bool) -> Self {
        Self {
            began: now,
            dispatched: 0,
            now,
            has_capacity,
            last_reply: None,
        }
    }

    /// Keeps a reply, and sends the one before.
    fn reply(&mut self, shared: &Arc<SharedConnection>, key: RequestKey, reply: Reply) {
        if let Some((key, reply)) = self.last_reply.replace((key, reply)) {
            shared.respond(&mut shared.lock(), self.now, key, reply);
        }
    }

    /// Dispatches as many requests as fit in a slice.
    fn dispatch_all(
        &mut self,
        shared: &Arc<SharedConnection>,
        handler: &Arc<dyn RequestHandler>,
        requests: &mut dyn Iterator<Item = QueuedRequest>,
    ) {
        while self.dispatched < MAX_DISPATCHED_PER_SLICE
            && (self.dispatched == 0 || self.now - self.began < DISPATCH_TIME_SLICE)
        {
            let Some(next) = requests.next() else {
                return;
            };
            self.dispatched += 1;
            self.dispatch_one(shared, handler, next);
        }
    }

    /// Dispatches one request.
    fn dispatch_one(
        &mut self,
        shared: &Arc<SharedConnection>,
        handler: &Arc<dyn RequestHandler>,
        queued: QueuedRequest,
    ) {
        let QueuedRequest { key, request, .. } = queued;
        let mut open_channel = |_: &Request| {
            ClientChannel::Connection(ConnectionChannel {
                shared: Arc::clone(shared),
                request: key,
            })
        };
        let start = self.now;
        let quota_permit = request.origin.quota_permit.clone();
        let Dispatched {
            reply: handler_reply,
            latency: estimate,
        } = Arc::clone(handler).dispatch(request, &mut open_channel);
        self.now = shared.now();
        let dispatch_time = self.now - start;
        let mut job = match handler_reply {
            HandlerReply::Ready(reply) => return self.reply(shared, key, reply),
            HandlerReply::Pending(work) => Job {
                key,
                work: CatchPanic(work),
                timed: estimate.map(|estimate| Timed {
                    estimate,
                    dispatch_time,
                }),
                quota_permit,
            },
        };
        let runs_inline = |timed: &mut Timed| timed.is_quick() && self.has_capacity;
        if let Some(timed) = job.timed.take_if(runs_inline) {
            // A task polls it again, so no wakeup is needed.
            let mut noop_cx = Context::from_waker(Waker::noop());
            let polled = poll_inline(shared, &mut job.work, &timed, &mut self.now, &mut noop_cx);
            if let Poll::Ready(reply) = polled {
                return self.reply(shared, key, reply);
            }
        }
        self.has_capacity = false;
        shared.lock().enqueue(job);
    }
}
