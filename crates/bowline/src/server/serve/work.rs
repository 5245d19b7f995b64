//! The author's work on what a client asks.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Instant,
};

use super::{
    line::Line,
    pace::Paced,
    shared::{Arrived, Inner, Job, Shared},
};
use crate::{
    contained::Contained,
    proto::server::{Incoming, Reply},
    server::{
        request::{Handle, Handled, Request, Taken, panicked},
        talk::voice::Voice,
    },
};

/// Gives what arrived to those who know, without the lock.
pub(super) fn dispatch(shared: &Arc<Shared>, handle: &Arc<dyn Handle>) {
    let (mut arrived, heard, watch_changed) = {
        let mut inner = shared.lock();
        let arrived = std::mem::take(&mut inner.arrived);
        let heard = std::mem::take(&mut inner.heard);
        (arrived, heard, std::mem::take(&mut inner.watch_changed))
    };
    if watch_changed {
        handle.watch_changed();
    }
    let heard = heard.into_iter();
    let notices: Vec<_> = heard.filter_map(|it| handle.hear(it)).collect();
    for it in arrived.drain(..) {
        take_in(shared, handle, it);
    }
    let mut inner = shared.lock();
    inner.spare(arrived);
    // Even where nothing arrived: what was called off has made room.
    start_jobs(shared, &mut inner);
    for notice in notices {
        inner.note(notice);
    }
    start_notices(shared, &mut inner);
}

/// Has one request answered, or worked on.
fn take_in(shared: &Arc<Shared>, handle: &Arc<dyn Handle>, arrived: Arrived) {
    let Arrived { incoming, request } = arrived;
    let mut voice = |_: &Request| {
        Voice::Line(Line {
            shared: Arc::clone(shared),
            request: incoming,
        })
    };
    let start = Instant::now();
    let Taken { handled, pace } = Arc::clone(handle).take(request, &mut voice);
    let look = start.elapsed();
    let mut job = match handled {
        Handled::Now(reply) => return shared.answer(incoming, reply),
        Handled::Later(work) => Job {
            incoming,
            work: Contained(work),
            paced: pace.map(|pace| Paced { pace, look }),
        },
    };
    let now = |paced: &mut Paced| paced.is_quick() && shared.has_room();
    if let Some(paced) = job.paced.take_if(now) {
        // A task polls it again, so that nobody need be woken.
        let mut unwatched = Context::from_waker(Waker::noop());
        if let Poll::Ready(reply) = begin(&mut job.work, &paced, &mut unwatched) {
            return shared.answer(incoming, reply);
        }
    }
    shared.lock().enqueue(job);
}

/// Does as much of the work as can be done at once, and notes for how long that
/// holds the thread.
fn begin(work: &mut Contained<Reply>, paced: &Paced, cx: &mut Context<'_>) -> Poll<Reply> {
    let start = Instant::now();
    let polled = Pin::new(work).poll(cx);
    paced.note(start.elapsed());
    polled.map(|reply| reply.unwrap_or_else(|_| panicked()))
}

/// Does the work to its end.
async fn complete(mut work: Contained<Reply>, paced: Option<Paced>) -> Reply {
    if let Some(paced) = paced {
        let begun = poll_fn(|cx| Poll::Ready(begin(&mut work, &paced, cx)));
        if let Poll::Ready(reply) = begun.await {
            return reply;
        }
    }
    work.await.unwrap_or_else(|_| panicked())
}

/// Starts as much work as there may be at once.
fn start_jobs(shared: &Arc<Shared>, inner: &mut Inner) {
    while let Some(job) = inner.next_job(shared.serving.at_once) {
        let Job {
            incoming,
            work,
            paced,
        } = job;
        let shared_then = Arc::clone(shared);
        // The table is locked while the task is started, so that it cannot be
        // done before it is entered.
        let task = tokio::spawn(async move {
            let reply = complete(work, paced).await;
            finish(&shared_then, incoming, reply);
        });
        inner.running.insert(incoming, task.abort_handle());
    }
}

/// Starts to tell the author of notifications, one after the other, unless
/// that is under way.
fn start_notices(shared: &Arc<Shared>, inner: &mut Inner) {
    if inner.noticing.is_some() || inner.notices.is_empty() {
        return;
    }
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move {
        loop {
            let next = {
                let mut inner = shared.lock();
                let next = inner.notices.pop_front();
                if next.is_none() {
                    inner.noticing = None;
                }
                next
            };
            match next {
                // A panic is the end of this one alone.
                Some(notice) => drop(Contained(notice).await),
                None => return,
            }
        }
    });
    inner.noticing = Some(task.abort_handle());
}

fn finish(shared: &Arc<Shared>, incoming: Incoming, reply: Reply) {
    let now = shared.now();
    let mut inner = shared.lock();
    inner.running.remove(&incoming);
    inner.machine.respond(now, incoming, reply);
    shared.settle(&mut inner, now);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
}
