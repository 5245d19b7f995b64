//! Handler runs for the requests of a client.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;

use super::{
    connection_channel::ConnectionChannel,
    job_queue::{Job, NotificationJob},
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
            Dispatched, HandlerReply, IncomingNotification, Request, RequestHandler, panic_reply,
        },
    },
};

/// How many requests are dispatched in one slice. The rest of a batch waits
/// until other tasks have run.
const MAX_DISPATCHED_PER_SLICE: usize = 16;
/// The duration of a slice, exceeded by at most one request.
const DISPATCH_TIME_SLICE: Duration = Duration::from_millis(5);

/// Dispatches received messages to handlers, without the lock. `now` is when
/// this started.
pub(super) fn dispatch(
    shared: &Arc<SharedConnection>,
    handler: &Arc<dyn RequestHandler>,
    now: Instant,
) {
    let (mut queued, notifications, subscription_changes, has_capacity) = {
        let mut inner = shared.lock();
        let queued = inner.requests.take_new();
        let notifications = std::mem::take(&mut inner.notifications);
        let subscription_changes = std::mem::take(&mut inner.subscription_changes);
        let has_capacity = inner.has_capacity(shared.serve_options.max_concurrent_calls);
        (queued, notifications, subscription_changes, has_capacity)
    };
    if !subscription_changes.is_empty() {
        handler.subscriptions_changed(subscription_changes);
    }
    let notifications = notifications.into_iter();
    let into_job = |it: IncomingNotification| {
        let bytes = it.params.as_ref().map_or(0, Bytes::len);
        let work = handler.notify(it)?;
        Some(NotificationJob { work, bytes })
    };
    let jobs: Vec<_> = notifications.filter_map(into_job).collect();
    let mut requests = queued.drain(..);
    Dispatcher::new(now, has_capacity).dispatch_all(shared, handler, &mut requests);
    let mut inner = shared.lock();
    if requests.len() > 0 {
        inner.requests.defer(requests);
        inner.wake_driver();
    } else {
        drop(requests);
    }
    inner.requests.recycle(queued);
    // Even if nothing was received: cancelled jobs have freed capacity.
    start_jobs(shared, &mut inner);
    for notification in jobs {
        inner.queue_notification(notification);
    }
    start_notifications(shared, &mut inner);
}

/// Dispatches deferred requests, for one slice.
pub(super) fn dispatch_deferred(shared: &Arc<SharedConnection>, handler: &Arc<dyn RequestHandler>) {
    let (queued, has_capacity) = {
        let mut inner = shared.lock();
        if !inner.requests.has_deferred() {
            return;
        }
        let has_capacity = inner.has_capacity(shared.serve_options.max_concurrent_calls);
        (
            inner.requests.take_deferred(MAX_DISPATCHED_PER_SLICE),
            has_capacity,
        )
    };
    let mut requests = queued.into_iter();
    Dispatcher::new(shared.now(), has_capacity).dispatch_all(shared, handler, &mut requests);
    let mut inner = shared.lock();
    inner.requests.requeue(requests);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
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
}

impl Dispatcher {
    fn new(now: Instant, has_capacity: bool) -> Self {
        Self {
            began: now,
            dispatched: 0,
            now,
            has_capacity,
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
            HandlerReply::Ready(reply) => return shared.respond(self.now, key, reply),
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
                return shared.respond(self.now, key, reply);
            }
        }
        self.has_capacity = false;
        shared.lock().enqueue(job);
    }
}

/// Polls the work once and measures how long that blocks the thread: from `now`
/// to the updated `now`.
fn poll_inline(
    shared: &SharedConnection,
    work: &mut CatchPanic<Reply>,
    timed: &Timed,
    now: &mut Instant,
    cx: &mut Context<'_>,
) -> Poll<Reply> {
    let start = *now;
    let polled = Pin::new(work).poll(cx);
    *now = shared.now();
    timed.record(*now - start);
    polled.map(|reply| reply.unwrap_or_else(|_| panic_reply()))
}

/// Runs the work to completion.
async fn run_to_end(
    shared: &SharedConnection,
    mut work: CatchPanic<Reply>,
    timed: Option<Timed>,
) -> Reply {
    if let Some(timed) = timed {
        let first_poll = poll_fn(|cx| {
            let mut now = shared.now();
            Poll::Ready(poll_inline(shared, &mut work, &timed, &mut now, cx))
        });
        if let Poll::Ready(reply) = first_poll.await {
            return reply;
        }
    }
    work.await.unwrap_or_else(|_| panic_reply())
}

/// Starts as many jobs as there is capacity for.
fn start_jobs(shared: &Arc<SharedConnection>, inner: &mut Inner) {
    while let Some(job) = inner.next_job(shared.serve_options.max_concurrent_calls) {
        let Job {
            key,
            work,
            timed,
            quota_permit,
        } = job;
        let connection = Arc::clone(shared);
        // The table is locked while the task is spawned, so the task cannot
        // finish before it is inserted.
        let task = tokio::spawn(async move {
            let reply = run_to_end(&connection, work, timed).await;
            finish(&connection, key, reply);
            drop(quota_permit);
        });
        inner.running.insert(key, task.abort_handle());
    }
}

/// Starts to run notification handlers one after the other, unless they already
/// run.
fn start_notifications(shared: &Arc<SharedConnection>, inner: &mut Inner) {
    if inner.notification_task.is_some() || inner.notification_jobs.is_empty() {
        return;
    }
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move {
        loop {
            let next = {
                let mut inner = shared.lock();
                let next = inner.notification_jobs.pop_front();
                if next.is_none() {
                    inner.notification_task = None;
                }
                next
            };
            match next {
                // A panic ends only this one.
                Some(notification) => drop(CatchPanic(notification.work).await),
                None => return,
            }
        }
    });
    inner.notification_task = Some(task.abort_handle());
}

fn finish(shared: &Arc<SharedConnection>, key: RequestKey, reply: Reply) {
    let now = shared.now();
    let mut inner = shared.lock();
    inner.running.remove(&key);
    inner.machine.respond(now, key, reply);
    shared.process_outputs(&mut inner, now);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
}
