//! The author's work on what a client asks.

use std::sync::Arc;

use super::{
    line::Line,
    shared::{Inner, Job, Shared},
};
use crate::{
    contained::Contained,
    proto::server::{Incoming, Reply},
    server::request::{Handle, Handled, panicked},
};

/// Gives what arrived to those who know, without the lock.
pub(super) fn dispatch(shared: &Arc<Shared>, handle: &Arc<dyn Handle>) {
    let (arrived, heard, watch_changed) = {
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
    let mut answered = Vec::new();
    let mut jobs = Vec::new();
    for it in arrived {
        let incoming = it.incoming;
        let line = Line {
            shared: Arc::clone(shared),
            request: incoming,
        };
        match Arc::clone(handle).handle(it.request, Box::new(line)) {
            Handled::Now(reply) => answered.push((incoming, reply)),
            Handled::Later(work) => jobs.push(Job { incoming, work }),
        }
    }
    let mut inner = shared.lock();
    let now = shared.now();
    for (incoming, reply) in answered {
        inner.machine.respond(now, incoming, reply);
    }
    jobs.into_iter().for_each(|job| inner.enqueue(job));
    shared.settle(&mut inner, now);
    // Even where nothing arrived: what was called off has made room.
    start_jobs(shared, &mut inner);
    for notice in notices {
        inner.note(notice);
    }
    start_notices(shared, &mut inner);
}

/// Starts as much work as there may be at once.
fn start_jobs(shared: &Arc<Shared>, inner: &mut Inner) {
    while let Some(Job { incoming, work }) = inner.next_job(shared.serving.at_once) {
        let shared_then = Arc::clone(shared);
        // The table is locked while the task is started, so that it cannot be
        // done before it is entered.
        let task = tokio::spawn(async move {
            let reply = Contained(work).await;
            let reply = reply.unwrap_or_else(|_| panicked());
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
