//! Shutdown of a connection, by us or by loss of the link.

use std::time::Duration;

use super::{
    CancelReason, Connection, Event, Outcome, Output, TelemetryEvent, core::Phase, errors,
    failure::Failure,
};
use crate::{Instant, jsonrpc::error_response};

impl Connection {
    /// Shuts down gracefully: accepts no new requests, closes subscription
    /// streams, and lets open requests finish within the grace period. Requests
    /// still open after that are refused, and the link is closed. Calling it
    /// again can only shorten the grace period.
    pub fn shutdown(&mut self, now: Instant, grace: Duration) {
        let deadline = match self.core.phase {
            Phase::Closed => return,
            Phase::Open => now + grace,
            Phase::Draining { deadline } => deadline.min(now + grace),
        };
        let requests = self.requests.len();
        self.core.observe(|| TelemetryEvent::Draining { requests });
        self.core.phase = Phase::Draining { deadline };
        self.close_subscription_streams(now);
        if deadline <= now {
            self.drain_timed_out(now);
        } else {
            self.finish_drain(now);
        }
    }

    /// Ends a drain that has nothing left to wait for.
    pub(super) fn finish_drain(&mut self, now: Instant) {
        if matches!(self.core.phase, Phase::Draining { .. }) && self.requests.len() == 0 {
            self.close_link(now);
        }
    }

    /// Ends the grace period: every open request gets an error.
    pub(super) fn drain_timed_out(&mut self, now: Instant) {
        for (request, open) in self.requests.close_all() {
            let frame = error_response(Some(&open.id), &errors::shutting_down());
            self.core.send_response(Some(request), frame);
            self.request_cancelled(now, request, open, CancelReason::Shutdown);
        }
        self.close_link(now);
    }

    /// Ends the connection from our side.
    pub(super) fn close_link(&mut self, now: Instant) {
        self.release_all(now);
        self.core.push_output(Output::Close);
        self.mark_closed();
    }

    /// Handles the loss of the link.
    pub(super) fn link_closed(&mut self, now: Instant) {
        self.release_all(now);
        self.mark_closed();
    }

    /// Releases everything that was bound to the link, and notifies everyone
    /// who waits, once.
    fn release_all(&mut self, now: Instant) {
        for (request, open) in self.requests.close_all() {
            self.request_cancelled(now, request, open, CancelReason::LinkClosed);
        }
        for id in self.calls.ids() {
            self.finish_call(now, id, Outcome::Failed(Failure::Closed));
        }
        while let Some((_, stream)) = self.subscription_streams.close_first() {
            let duration = now - stream.started;
            self.core
                .observe(|| TelemetryEvent::ListenStop { duration });
            self.subscription_changed(stream.filter.uris, false);
        }
        if let Some(session) = self.session.take() {
            self.subscription_changed(session.subscribed.into_uris(), false);
        }
    }

    fn mark_closed(&mut self) {
        self.core.push_event(Event::Closed);
        self.core.phase = Phase::Closed;
    }
}
