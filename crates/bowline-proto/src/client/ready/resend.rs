//! Frames that could not be sent, and when they are sent again.

use bytes::Bytes;

use super::Ready;
use crate::{
    Instant,
    client::{
        CallId, ConnectionError, ConnectionErrorKind, Failure, SendError, TelemetryEvent,
        calls::{Call, Phase},
        core::Core,
        redial::RedialPolicy,
        state::State,
        timer::Timer,
    },
    http::StatusClass,
};

impl Ready {
    pub(in crate::client) fn send_failed(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        wire_id: Option<u64>,
        error: SendError,
    ) -> State {
        let call = wire_id.and_then(|wire_id| core.calls.find_in_flight(wire_id));
        let moved = call
            .and_then(|id| core.calls.get(id))
            .map(|call| call.moved_session);
        if let SendError::Status(status) = &error
            && status.class() == StatusClass::NotFound
            && self.session.is_kept_by_server()
            && moved != Some(true)
        {
            return self.session_not_found(core, now, call);
        }
        let Some(wire_id) = wire_id else {
            if let SendError::Busy(frame) = error {
                self.session.defer_response(core, now, frame);
            }
            // A notification is sent only once.
            return State::Ready(self);
        };
        match call {
            Some(id) => self.call_send_failed(core, now, id, error),
            None => self.session.stream_failed(core, now, wire_id, &error),
        }
        State::Ready(self)
    }

    /// Handles an unknown session. The server did not process this request, so it is
    /// safe to send it again in the next session, unless it is bound to this one.
    ///
    /// Redials without a delay only if a call moves to the next session: a server that
    /// accepts no session at all would otherwise be dialled in a loop.
    fn session_not_found(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        call: Option<CallId>,
    ) -> State {
        let redial = match call {
            Some(id) if core.move_to_next_session(id) => RedialPolicy::Immediately,
            Some(id)
                if core
                    .calls
                    .get(id)
                    .is_some_and(|call| call.binding.is_session()) =>
            {
                core.fail(now, id, Failure::SessionLost);
                RedialPolicy::AfterBackoff
            }
            _ => RedialPolicy::AfterBackoff,
        };
        let kind = ConnectionErrorKind::SessionNotFound;
        self.close_session(core, now, kind, redial)
    }

    fn call_send_failed(&mut self, core: &mut Core, now: Instant, id: CallId, error: SendError) {
        match error {
            SendError::Busy(frame) => Self::retry_later(core, now, id, frame),
            SendError::Failed(cause) => {
                // A server that restarts breaks an exchange, then cannot be reached.
                let is_repeated = core
                    .calls
                    .get(id)
                    .is_some_and(|call| call.broken_exchanges > 0);
                if !is_repeated || !cause_may_pass(&cause) || !Self::repeat_later(core, now, id) {
                    core.fail(now, id, Failure::NotDelivered(cause));
                }
            }
            SendError::NoResponse(cause) => {
                if let Some(wire_id) = core.calls.get(id).and_then(Call::wire_id) {
                    core.remember_cancelled(now, wire_id);
                }
                if !Self::repeat_later(core, now, id) {
                    core.fail(now, id, Failure::ConnectionLost(cause));
                }
            }
            SendError::Status(status) => {
                self.finish_or_relist(core, now, id, status.outcome());
            }
        }
    }

    /// Schedules a frame to be sent again because the link's queue is full, up to
    /// `max_sends` attempts.
    fn retry_later(core: &mut Core, now: Instant, id: CallId, frame: Bytes) {
        let (delay, jitter) = (
            core.config.queue_full_retry.delay,
            core.config.queue_full_retry.jitter,
        );
        let delay = core.rng.jitter(delay, jitter);
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        let Phase::InFlight { wire_id, sends } = call.phase else {
            return;
        };
        if sends >= core.config.queue_full_retry.max_sends {
            core.observe(|| TelemetryEvent::RetryExhausted { call: id.0 });
            core.fail(now, id, Failure::Busy { sends });
            return;
        }
        let at = now + delay;
        call.phase = Phase::Retrying {
            wire_id,
            frame,
            sends,
            at,
        };
        core.timers.arm(Timer::Resend(id), at);
        core.observe(|| TelemetryEvent::RetryScheduled {
            call: id.0,
            sends,
            delay,
        });
    }

    /// Schedules a call whose exchange broke to be sent again, if its caller allowed
    /// that. The delay is that of a reconnection: the session is still open, but the
    /// server may be restarting, or break every exchange.
    fn repeat_later(core: &mut Core, now: Instant, id: CallId) -> bool {
        if !core.requeue_if_allowed(id) {
            return false;
        }
        let random = core.rng.next_f64();
        let Some(call) = core.calls.get_mut(id) else {
            return false;
        };
        let Phase::Queued(message) = &mut call.phase else {
            return false;
        };
        let message = message.take();
        let delay = core.config.backoff.delay(call.broken_exchanges, random);
        call.broken_exchanges = call.broken_exchanges.saturating_add(1);
        let (at, sends) = (now + delay, call.broken_exchanges);
        call.phase = Phase::Repeating { message, at };
        core.timers.arm(Timer::Resend(id), at);
        core.observe(|| TelemetryEvent::RetryScheduled {
            call: id.0,
            sends,
            delay,
        });
        true
    }

    /// Sends the responses again that the link was too busy to accept.
    pub(in crate::client) fn resend_deferred(&mut self, core: &mut Core) {
        self.session.resend_deferred(core);
    }

    /// Sends a busy, paused or repeated call again after its delay.
    pub(in crate::client) fn resend(&mut self, core: &mut Core, now: Instant, id: CallId) {
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        match &mut call.phase {
            Phase::Retrying {
                wire_id,
                frame,
                sends,
                ..
            } => {
                let (wire_id, frame, sends) = (*wire_id, frame.clone(), *sends + 1);
                call.phase = Phase::InFlight { wire_id, sends };
                core.send(self.link, Some(wire_id), frame);
            }
            Phase::Paused { .. } => {
                if core.queue_after_pause(now, id) {
                    self.send_queued(core, now, id);
                }
            }
            Phase::Repeating { message, .. } => {
                call.phase = Phase::Queued(message.take());
                self.send_queued(core, now, id);
            }
            Phase::Queued(_)
            | Phase::InFlight { .. }
            | Phase::AwaitingInput(_)
            | Phase::Subscribing => {}
        }
    }
}

/// Returns whether a request that was not delivered may be delivered later: not if there
/// are no credentials for it.
fn cause_may_pass(cause: &ConnectionError) -> bool {
    !matches!(cause.kind(), ConnectionErrorKind::Unauthorized(_))
}
