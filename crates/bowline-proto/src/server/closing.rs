//! The end: the link went away, or we leave.

use std::time::Duration;

use super::{
    Connection, Event, Outcome, Output, Telemetry, Withdrawal, core::Phase, errors,
    outcome::Failure,
};
use crate::{Instant, jsonrpc::error_response};

impl Connection {
    /// Leaves in order: no new requests, streams of changes are closed, and
    /// requests under way may finish within the grace. Whatever is left then is
    /// refused, and the link is hung up. Doing it again can only shorten the
    /// grace.
    pub fn shutdown(&mut self, now: Instant, grace: Duration) {
        let until = match self.core.phase {
            Phase::Closed => return,
            Phase::Open => now + grace,
            Phase::Draining { until } => until.min(now + grace),
        };
        let requests = self.requests.len();
        self.core.observe(|| Telemetry::Draining { requests });
        self.core.phase = Phase::Draining { until };
        self.close_listens(now);
        if until <= now {
            self.grace_over(now);
        } else {
            self.settle(now);
        }
    }

    /// Ends a drain that has nothing to wait for.
    pub(super) fn settle(&mut self, now: Instant) {
        if matches!(self.core.phase, Phase::Draining { .. }) && self.requests.len() == 0 {
            self.hang_up(now);
        }
    }

    /// The grace is over: who still waits is told that there will be no answer.
    pub(super) fn grace_over(&mut self, now: Instant) {
        for (request, open) in self.requests.close_all() {
            let frame = error_response(Some(&open.id), &errors::shutting_down());
            self.core.answer(Some(request), frame);
            self.withdrawn(now, request, open, Withdrawal::Shutdown);
        }
        self.hang_up(now);
    }

    /// Ends the connection from our side.
    pub(super) fn hang_up(&mut self, now: Instant) {
        self.let_go(now);
        self.core.output(Output::Hangup);
        self.closed();
    }

    /// The link is gone.
    pub(super) fn link_closed(&mut self, now: Instant) {
        self.let_go(now);
        self.closed();
    }

    /// Lets go of everything that was bound to the link; everybody who waits is
    /// told, once.
    fn let_go(&mut self, now: Instant) {
        for (request, open) in self.requests.close_all() {
            self.withdrawn(now, request, open, Withdrawal::LinkClosed);
        }
        for id in self.calls.ids() {
            self.finish_call(now, id, Outcome::Failed(Failure::Closed));
        }
        while let Some((_, listen)) = self.listens.close_first() {
            let duration = now - listen.started;
            self.core.observe(|| Telemetry::ListenStop { duration });
            self.watch_changed(listen.filter.uris, false);
        }
        if let Some(session) = self.session.take() {
            self.watch_changed(session.watched.into_uris(), false);
        }
    }

    fn closed(&mut self) {
        self.core.event(Event::Closed);
        self.core.phase = Phase::Closed;
    }
}
