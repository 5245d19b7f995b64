//! The task that serves one client.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::time::Sleep;

use super::{
    line::Line,
    shared::{Inner, Job, Shared},
};
use crate::{
    contained::Contained,
    proto::server::{Input, Reply, errors},
    server::request::{Handle, Handled},
    transport::{CauseKind, LinkEvent},
};

/// How many frames are taken in before others get their turn.
const FRAMES_PER_TURN: usize = 64;

/// Serves one client; ready when the link is gone.
pub(super) struct Driver {
    shared: Arc<Shared>,
    handle: Arc<dyn Handle>,
    timer: Pin<Box<Sleep>>,
    /// Runs from the end on.
    leaving: Option<Pin<Box<Sleep>>>,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, handle: Arc<dyn Handle>) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(tokio::time::Instant::now()));
        Self {
            shared,
            handle,
            timer,
            leaving: None,
        }
    }

    /// Takes in what has arrived. Says whether there may be more.
    fn read(&self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        for _ in 0..FRAMES_PER_TURN {
            // A client that does not read is not read from either.
            if inner.deaf || !inner.machine.receiving() || !inner.is_caught_up() {
                return false;
            }
            let Some(link) = &mut inner.link else {
                return false;
            };
            let Poll::Ready(event) = link.poll_event(cx) else {
                return false;
            };
            let now = self.shared.now();
            match event {
                LinkEvent::Frame(frame) => inner.machine.handle(now, Input::Frame(frame)),
                LinkEvent::Oversize { size, prefix } => {
                    inner.machine.handle(now, Input::Oversize { size, prefix });
                }
                LinkEvent::Refused { .. } => {}
                // It has nothing more to say, and may still listen.
                LinkEvent::Down(cause) if *cause.kind() == CauseKind::Eof => {
                    inner.go_deaf();
                    inner.machine.shutdown(now, self.shared.serving.grace);
                }
                LinkEvent::Down(_) => inner.machine.handle(now, Input::Closed),
            }
            self.shared.settle(inner, now);
        }
        true
    }

    /// Gives what arrived to those who know, without the lock.
    fn dispatch(&self) {
        let (arrived, heard, watch_changed) = {
            let mut inner = self.shared.lock();
            let arrived = std::mem::take(&mut inner.arrived);
            let heard = std::mem::take(&mut inner.heard);
            (arrived, heard, std::mem::take(&mut inner.watch_changed))
        };
        if watch_changed {
            self.handle.watch_changed();
        }
        let heard = heard.into_iter();
        let notices: Vec<_> = heard.filter_map(|it| self.handle.hear(it)).collect();
        let mut answered = Vec::new();
        let mut jobs = Vec::new();
        for it in arrived {
            let incoming = it.incoming;
            let line = Line {
                shared: Arc::clone(&self.shared),
                request: incoming,
            };
            match Arc::clone(&self.handle).handle(it.request, Box::new(line)) {
                Handled::Now(reply) => answered.push((incoming, reply)),
                Handled::Later(work) => jobs.push(Job { incoming, work }),
            }
        }
        let mut inner = self.shared.lock();
        let now = self.shared.now();
        for (incoming, reply) in answered {
            inner.machine.respond(now, incoming, reply);
        }
        jobs.into_iter().for_each(|job| inner.enqueue(job));
        self.shared.settle(&mut inner, now);
        // Even where nothing arrived: what was called off has made room.
        start_jobs(&self.shared, &mut inner);
        for notice in notices {
            inner.note(notice);
        }
        start_notices(&self.shared, &mut inner);
    }

    /// The end has come, but the client does not read what was said to it.
    /// Says whether that has been waited for long enough.
    fn is_tired(&mut self, cx: &mut Context<'_>) -> bool {
        let leaving = self
            .leaving
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(self.shared.serving.grace)));
        leaving.as_mut().poll(cx).is_ready()
    }

    /// Sets the timer. Says whether it has run out already.
    fn watch_clock(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = inner.deadline else {
            return false;
        };
        let deadline = self.shared.clock(deadline);
        if self.timer.is_elapsed() || self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        let now = self.shared.now();
        inner.machine.handle(now, Input::Tick);
        self.shared.settle(inner, now);
        true
    }
}

/// Starts as much work as there may be at once.
fn start_jobs(shared: &Arc<Shared>, inner: &mut Inner) {
    while let Some(Job { incoming, work }) = inner.next_job(shared.serving.at_once) {
        let shared_then = Arc::clone(shared);
        // The table is locked while the task is started, so that it cannot be
        // done before it is entered.
        let task = tokio::spawn(async move {
            let reply = Contained(work).await;
            let reply = reply.unwrap_or_else(|_| Reply::Error(panicked()));
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

fn finish(shared: &Arc<Shared>, incoming: crate::proto::server::Incoming, reply: Reply) {
    let now = shared.now();
    let mut inner = shared.lock();
    inner.running.remove(&incoming);
    inner.machine.respond(now, incoming, reply);
    shared.settle(&mut inner, now);
    start_jobs(shared, &mut inner);
    inner.wake_driver();
}

fn panicked() -> crate::proto::jsonrpc::ErrorObject {
    errors::internal("The server failed at this: its handler panicked")
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let shared = Arc::clone(&this.shared);
        let mut more = {
            let mut inner = shared.lock();
            match &mut inner.driver {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            shared.catch_up(&mut inner);
            this.read(&mut inner, cx)
        };
        this.dispatch();
        let mut inner = shared.lock();
        more |= this.watch_clock(&mut inner, cx);
        let flushed = match &mut inner.link {
            Some(link) => link.poll_flush(cx).is_ready(),
            None => true,
        };
        if flushed && !inner.is_caught_up() {
            more = true;
        }
        let said_all = flushed && inner.is_caught_up();
        if inner.ended && (said_all || this.is_tired(cx)) {
            inner.let_go();
            if let Some(link) = inner.link.take() {
                link.close();
            }
            return Poll::Ready(());
        }
        if more {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Serving was given up: so is everything that was started for it.
impl Drop for Driver {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        inner.let_go();
        inner.link = None;
        let now = self.shared.now();
        inner.machine.handle(now, Input::Closed);
        self.shared.settle(&mut inner, now);
        drop(inner);
        // What this client watched, it watches no longer.
        self.handle.watch_changed();
    }
}
