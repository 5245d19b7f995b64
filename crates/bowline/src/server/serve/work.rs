//! The author's work on what a client asks.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;

use super::{
    arrivals::Arrived,
    line::Line,
    pace::Paced,
    shared::{Inner, Job, Noticing, Shared},
};
use crate::{
    contained::Contained,
    proto::{
        Instant,
        server::{Incoming, Reply},
    },
    server::{
        request::{Handle, Handled, Heard, Request, Taken, panicked},
        talk::voice::Voice,
    },
};

/// How many requests are looked at in one turn. Whatever a batch brings beyond
/// that waits until others have had theirs.
const MAX_PER_TURN: usize = 16;
/// How long a turn lasts, but for the request that makes it longer.
const TURN: Duration = Duration::from_millis(5);

/// Gives what arrived to those who know, without the lock. It was looked at from
/// `now` on.
pub(super) fn dispatch(shared: &Arc<Shared>, handle: &Arc<dyn Handle>, now: Instant) {
    let (mut arrived, heard, watch_changes, has_room) = {
        let mut inner = shared.lock();
        let arrived = inner.arrivals.take_new();
        let heard = std::mem::take(&mut inner.heard);
        let watch_changes = std::mem::take(&mut inner.watch_changes);
        let has_room = inner.has_room(shared.serving.at_once);
        (arrived, heard, watch_changes, has_room)
    };
    if !watch_changes.is_empty() {
        handle.watch_changed(watch_changes);
    }
    let heard = heard.into_iter();
    let hear = |it: Heard| {
        let bytes = it.params.as_ref().map_or(0, Bytes::len);
        let work = handle.hear(it)?;
        Some(Noticing { work, bytes })
    };
    let notices: Vec<_> = heard.filter_map(hear).collect();
    let mut waiting = arrived.drain(..);
    Turn::new(now, has_room).take_in_all(shared, handle, &mut waiting);
    let mut inner = shared.lock();
    if waiting.len() > 0 {
        inner.arrivals.put_off(waiting);
        inner.wake_driver();
    } else {
        drop(waiting);
    }
    inner.arrivals.spare(arrived);
    // Even where nothing arrived: what was called off has made room.
    start_jobs(shared, &mut inner);
    for notice in notices {
        inner.note(notice);
    }
    start_notices(shared, &mut inner);
}

/// Goes on with requests that were put off, for one turn.
pub(super) fn resume(shared: &Arc<Shared>, handle: &Arc<dyn Handle>) {
    let (arrived, has_room) = {
        let mut inner = shared.lock();
        if !inner.arrivals.has_put_off() {
            return;
        }
        let has_room = inner.has_room(shared.serving.at_once);
        (inner.arrivals.take_put_off(MAX_PER_TURN), has_room)
    };
    let mut waiting = arrived.into_iter();
    Turn::new(shared.now(), has_room).take_in_all(shared, handle, &mut waiting);
    let mut inner = shared.lock();
    inner.arrivals.put_back(waiting);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
}

/// What is known while requests are taken in, one after the other.
struct Turn {
    /// When it began.
    began: Instant,
    /// How many were taken in.
    taken: usize,
    /// The clock is read once between two things that are timed.
    now: Instant,
    /// Whether more work may be done at once, and none waits for its turn.
    has_room: bool,
}

impl Turn {
    fn new(now: Instant, has_room: bool) -> Self {
        Self {
            began: now,
            taken: 0,
            now,
            has_room,
        }
    }

    /// Takes in as many requests as one turn is for.
    fn take_in_all(
        &mut self,
        shared: &Arc<Shared>,
        handle: &Arc<dyn Handle>,
        waiting: &mut dyn Iterator<Item = Arrived>,
    ) {
        while self.taken < MAX_PER_TURN && (self.taken == 0 || self.now - self.began < TURN) {
            let Some(next) = waiting.next() else {
                return;
            };
            self.taken += 1;
            self.take_in(shared, handle, next);
        }
    }

    /// Has one request answered, or worked on.
    fn take_in(&mut self, shared: &Arc<Shared>, handle: &Arc<dyn Handle>, arrived: Arrived) {
        let Arrived {
            incoming, request, ..
        } = arrived;
        let mut voice = |_: &Request| {
            Voice::Line(Line {
                shared: Arc::clone(shared),
                request: incoming,
            })
        };
        let start = self.now;
        let charge = request.sender.charge.clone();
        let Taken { handled, pace } = Arc::clone(handle).take(request, &mut voice);
        self.now = shared.now();
        let look = self.now - start;
        let mut job = match handled {
            Handled::Now(reply) => return shared.answer(self.now, incoming, reply),
            Handled::Later(work) => Job {
                incoming,
                work: Contained(work),
                paced: pace.map(|pace| Paced { pace, look }),
                charge,
            },
        };
        let here = |paced: &mut Paced| paced.is_quick() && self.has_room;
        if let Some(paced) = job.paced.take_if(here) {
            // A task polls it again, so that nobody need be woken.
            let mut unwatched = Context::from_waker(Waker::noop());
            let begun = begin(shared, &mut job.work, &paced, &mut self.now, &mut unwatched);
            if let Poll::Ready(reply) = begun {
                return shared.answer(self.now, incoming, reply);
            }
        }
        self.has_room = false;
        shared.lock().enqueue(job);
    }
}

/// Does as much of the work as can be done at once, and notes for how long that
/// holds the thread: from `now` on, until what is `now` then.
fn begin(
    shared: &Shared,
    work: &mut Contained<Reply>,
    paced: &Paced,
    now: &mut Instant,
    cx: &mut Context<'_>,
) -> Poll<Reply> {
    let start = *now;
    let polled = Pin::new(work).poll(cx);
    *now = shared.now();
    paced.note(*now - start);
    polled.map(|reply| reply.unwrap_or_else(|_| panicked()))
}

/// Does the work to its end.
async fn complete(shared: &Shared, mut work: Contained<Reply>, paced: Option<Paced>) -> Reply {
    if let Some(paced) = paced {
        let begun = poll_fn(|cx| {
            let mut now = shared.now();
            Poll::Ready(begin(shared, &mut work, &paced, &mut now, cx))
        });
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
            charge,
        } = job;
        let shared_then = Arc::clone(shared);
        // The table is locked while the task is started, so that it cannot be
        // done before it is entered.
        let task = tokio::spawn(async move {
            let reply = complete(&shared_then, work, paced).await;
            finish(&shared_then, incoming, reply);
            drop(charge);
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
                Some(notice) => drop(Contained(notice.work).await),
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
