//! The five states, and the transition table.

use std::{fmt, time::Duration};

use bytes::Bytes;

use super::{
    CallId, CallOptions, Cancellation, ConnectionError, Event as HostEvent, Failure, LinkId,
    Output, PeerRequestId, SendError, Telemetry, core::Core, opening::Opening, ready::Ready,
    request::CallKind, timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::InputResponses,
};

/// The name of a state, for errors, events and telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionState {
    /// Nothing has been dialled yet.
    Starting,
    /// A link is being dialled, or a session is being negotiated on it.
    Opening,
    /// A session is open.
    Ready,
    /// The connection was lost and waits before the next attempt.
    Backoff,
    /// The connection was stopped or has ended.
    Closing,
}

impl ConnectionState {
    /// Returns the name in lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Opening => "opening",
            Self::Ready => "ready",
            Self::Backoff => "backoff",
            Self::Closing => "closing",
        }
    }
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a connection. Data that only one state needs lives in its variant.
#[derive(Debug)]
pub(super) enum State {
    Starting,
    Opening(Box<Opening>),
    Ready(Box<Ready>),
    Backoff,
    Closing(Closing),
}

/// The phases of closing.
#[derive(Debug)]
pub(super) enum Closing {
    /// The link was asked to close and has a short time to confirm.
    AwaitingLink(LinkId),
    /// The connection has ended.
    Ended,
}

/// Everything that can happen to a connection.
#[derive(Debug)]
pub(super) enum StateInput {
    Start,
    Up,
    DialFailed(ConnectionError),
    Frame(Bytes),
    OversizedFrame { size: usize, prefix: Bytes },
    Down(ConnectionError),
    SendFailed(Option<u64>, SendError),
    Timer(Timer),
    Call(CallId, CallKind, CallOptions),
    ListSubscriptionsChanged,
    Cancel(CallId, Cancellation),
    Notify(OutgoingMessage),
    Respond(PeerRequestId, Result<RawJson, ErrorObject>),
    Input(CallId, Option<InputResponses>),
    Stop,
}

impl State {
    pub(super) fn public_state(&self) -> ConnectionState {
        match self {
            Self::Starting => ConnectionState::Starting,
            Self::Opening(_) => ConnectionState::Opening,
            Self::Ready(_) => ConnectionState::Ready,
            Self::Backoff => ConnectionState::Backoff,
            Self::Closing(_) => ConnectionState::Closing,
        }
    }

    /// Returns the link that this state uses or waits for.
    pub(super) fn link(&self) -> Option<LinkId> {
        match self {
            Self::Opening(opening) => Some(opening.link()),
            Self::Ready(ready) => Some(ready.link()),
            Self::Closing(Closing::AwaitingLink(link)) => Some(*link),
            Self::Starting | Self::Backoff | Self::Closing(Closing::Ended) => None,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Closing(Closing::Ended))
    }

    /// The transition table: every state, every input, no wildcard.
    // tidy: long table, one arm for each row of the transition table
    pub(super) fn step(self, core: &mut Core, now: Instant, input: StateInput) -> Self {
        use StateInput as H;
        match (self, input) {
            // Starting: nothing exists yet.
            (Self::Starting, H::Start) => Opening::dial(core, now),
            (Self::Starting, H::Stop) => end(core, now),
            (state @ Self::Starting, H::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Starting);
                state
            }

            // Opening: a link is being dialled, or a session negotiated.
            (Self::Opening(opening), H::Up) => opening.handle_up(core, now),
            (Self::Opening(opening), H::DialFailed(cause)) => opening.dial_failed(core, now, cause),
            (Self::Opening(opening), H::Frame(frame)) => opening.handle_frame(core, now, &frame),
            (Self::Opening(opening), H::OversizedFrame { size, prefix }) => {
                opening.handle_oversized_frame(core, now, size, &prefix)
            }
            (Self::Opening(opening), H::Down(cause)) => opening.handle_down(core, now, cause),
            (Self::Opening(opening), H::SendFailed(id, error)) => {
                opening.send_failed(core, now, id, error)
            }
            (Self::Opening(opening), H::Timer(Timer::Opening)) => opening.timed_out(core, now),
            (Self::Opening(opening), H::Timer(Timer::Probe)) => opening.probe_timed_out(core, now),
            (Self::Opening(opening), H::Stop) => close(core, now, opening.link()),
            (state @ Self::Opening(_), H::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Opening);
                state
            }

            // Ready: a session is open.
            (Self::Ready(ready), H::Frame(frame)) => ready.handle_frame(core, now, &frame),
            (Self::Ready(ready), H::OversizedFrame { size, prefix }) => {
                ready.handle_oversized_frame(core, now, size, &prefix)
            }
            (Self::Ready(ready), H::Down(cause)) => ready.handle_down(core, now, cause),
            (Self::Ready(ready), H::SendFailed(id, error)) => {
                ready.send_failed(core, now, id, error)
            }
            (Self::Ready(mut ready), H::Timer(Timer::Deadline(id))) => {
                ready.handle_deadline(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::Resend(id))) => {
                ready.resend(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::ReopenSubscriptionStream)) => {
                ready.session.reopen_subscription_stream(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::ResendDeferred)) => {
                ready.resend_deferred(core);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Call(id, kind, options)) => {
                ready.start_call(core, now, id, kind, options);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::ListSubscriptionsChanged) => {
                ready.session.refresh_subscriptions(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Cancel(id, cancellation)) => {
                ready.cancel(core, now, id, &cancellation);
                Self::Ready(ready)
            }
            (Self::Ready(ready), H::Notify(message)) => {
                ready.notify(core, message);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Respond(request, reply)) => {
                ready.respond(core, now, request, reply);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Input(id, responses)) => {
                ready.provide_input(core, now, id, responses);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Stop) => {
                ready.cancel_peer_requests(core);
                close(core, now, ready.link())
            }

            // Backoff: there is no link; the next dial is scheduled.
            (Self::Backoff, H::Timer(Timer::Redial)) => Opening::dial(core, now),
            (Self::Backoff, H::Stop) => end(core, now),
            (state @ Self::Backoff, H::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Backoff);
                state
            }

            // Closing: all calls ended when it began.
            (
                Self::Closing(Closing::AwaitingLink(_)),
                H::Timer(Timer::CloseTimeout) | H::Down(_) | H::DialFailed(_),
            ) => enter_ended(core),
            (state @ Self::Closing(_), H::Call(id, kind, _)) => {
                core.refuse(id, &kind, core.closed_failure());
                state
            }

            // Transitions that are the same in every state without a session.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Timer(Timer::Deadline(id)),
            ) => {
                core.fail_timed_out(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Timer(Timer::Resend(id)),
            ) => {
                core.queue_after_pause(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Cancel(id, cancellation),
            ) => {
                core.fail(now, id, cancellation.failure());
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Input(id, responses),
            ) => {
                core.queue_input(now, id, responses);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff | Self::Closing(_)),
                H::Notify(message),
            ) => {
                core.observe(|| Telemetry::NotificationDropped {
                    method: message.method().to_owned().into(),
                });
                state
            }
            // Expired ids of cancelled calls are removed in every state but the last.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Ready(_) | Self::Backoff),
                H::Timer(Timer::SweepCancelledCalls),
            ) => {
                core.sweep(now);
                state
            }

            // Inputs that do not matter in this state are ignored on purpose.
            (
                state @ Self::Starting,
                H::Up
                | H::DialFailed(_)
                | H::Frame(_)
                | H::OversizedFrame { .. }
                | H::Down(_)
                | H::SendFailed(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | H::ListSubscriptionsChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Opening(_),
                H::Start
                | H::Timer(
                    Timer::Redial
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | H::ListSubscriptionsChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Ready(_),
                H::Start
                | H::Up
                | H::DialFailed(_)
                | H::Timer(Timer::Opening | Timer::Probe | Timer::Redial | Timer::CloseTimeout),
            )
            | (
                state @ Self::Backoff,
                H::Start
                | H::Up
                | H::DialFailed(_)
                | H::Frame(_)
                | H::OversizedFrame { .. }
                | H::Down(_)
                | H::SendFailed(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | H::ListSubscriptionsChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Closing(Closing::AwaitingLink(_)),
                H::Start
                | H::Up
                | H::Frame(_)
                | H::OversizedFrame { .. }
                | H::SendFailed(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred
                    | Timer::SweepCancelledCalls
                    | Timer::Deadline(_)
                    | Timer::Resend(_),
                )
                | H::ListSubscriptionsChanged
                | H::Cancel(..)
                | H::Respond(..)
                | H::Input(..)
                | H::Stop,
            )
            | (
                state @ Self::Closing(Closing::Ended),
                H::Start
                | H::Up
                | H::DialFailed(_)
                | H::Frame(_)
                | H::OversizedFrame { .. }
                | H::Down(_)
                | H::SendFailed(..)
                | H::Timer(_)
                | H::ListSubscriptionsChanged
                | H::Cancel(..)
                | H::Respond(..)
                | H::Input(..)
                | H::Stop,
            ) => state,
        }
    }
}

/// Starts closing: ends every call now and gives the link a short time to confirm.
fn close(core: &mut Core, now: Instant, link: LinkId) -> State {
    core.fail_all_calls(now, &Failure::Shutdown);
    core.timers.disarm_all();
    core.push_output(Output::Close { link });
    core.timers
        .arm(Timer::CloseTimeout, now + core.config.close_timeout);
    State::Closing(Closing::AwaitingLink(link))
}

/// Ends the connection when there is no link to wait for.
pub(super) fn end(core: &mut Core, now: Instant) -> State {
    core.fail_all_calls(now, &Failure::Shutdown);
    enter_ended(core)
}

fn enter_ended(core: &mut Core) -> State {
    core.timers.disarm_all();
    // There are no more sweeps, and no link that could deliver a late response.
    core.cancelled_calls.clear();
    State::Closing(Closing::Ended)
}

/// Handles a lost or failed connection: ends the calls that depend on the link and
/// schedules the next attempt.
pub(super) fn disconnect(core: &mut Core, now: Instant, details: Disconnect) -> State {
    let Disconnect {
        close_link,
        mut cause,
        redial,
    } = details;
    let had_session = std::mem::take(&mut core.in_session);
    if let Some(link) = close_link {
        core.push_output(Output::Close { link });
    }
    for timer in [
        Timer::Opening,
        Timer::Probe,
        Timer::ReopenSubscriptionStream,
        Timer::ResendDeferred,
    ] {
        core.timers.disarm(timer);
    }
    core.fail_calls_on_link(now, &cause);
    let delay = match redial {
        RedialPolicy::Immediately => Duration::ZERO,
        RedialPolicy::AfterBackoff => {
            let unit = core.rng.next_f64();
            let delay = core.config.backoff.delay(core.backoff_attempts, unit);
            core.backoff_attempts = core.backoff_attempts.saturating_add(1);
            delay.max(cause.retry_after().unwrap_or_default())
        }
    };
    let exceeded = (had_session && redial == RedialPolicy::AfterBackoff)
        .then(|| core.record_disconnect(now))
        .flatten();
    if let Some(limit) = exceeded {
        cause = ConnectionError::too_many_restarts(limit, cause);
    }
    core.last_disconnect = Some(cause.clone());
    let max_attempts = core.config.max_connect_attempts;
    if exceeded.is_some()
        || max_attempts.is_some_and(|max_attempts| core.failed_attempts >= max_attempts)
    {
        core.gave_up = Some(cause.clone());
        core.push_event(HostEvent::Disconnected {
            cause: cause.clone(),
            retry_in: None,
        });
        core.fail_all_calls(now, &Failure::GaveUp(cause));
        return enter_ended(core);
    }
    core.push_event(HostEvent::Disconnected {
        cause,
        retry_in: Some(delay),
    });
    core.timers.arm(Timer::Redial, now + delay);
    State::Backoff
}

/// A lost connection.
#[derive(Debug)]
pub(super) struct Disconnect {
    /// The link to close, if it is still open.
    pub(super) close_link: Option<LinkId>,
    pub(super) cause: ConnectionError,
    pub(super) redial: RedialPolicy,
}

/// When to dial again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedialPolicy {
    /// The attempt showed how to do better; there is no reason to wait.
    Immediately,
    AfterBackoff,
}
