//! Handler runs for the requests of a client.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    job_queue::Job,
    latency::Timed,
    shared::{Inner, SharedConnection},
};
use crate::{
    catch_panic::CatchPanic,
    proto::{
        Instant,
        server::{Reply, RequestKey},
    },
    server::dispatch::request::panic_reply,
};

/// Polls the work once and measures how long that blocks the thread: from `now`
/// to the updated `now`.
pub(super) fn poll_inline(
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
pub(super) fn start_jobs(shared: &Arc<SharedConnection>, inner: &mut Inner) {
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
pub(super) fn start_notifications(shared: &Arc<SharedConnection>, inner: &mut Inner) {
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
    shared.respond(&mut inner, now, key, reply);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
}
