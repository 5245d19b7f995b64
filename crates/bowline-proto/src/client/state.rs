//! The five states, and the transition table.

use std::fmt;

use bytes::Bytes;

use super::{
    CallId, CallOptions, Cancellation, ConnectionError, Failure, LinkId, Output, PeerRequestId,
    SendError, TelemetryEvent, core::Core, opening::Opening, ready::Ready, request::CallKind,
    timer::Timer,
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
    Answers(CallId, Option<InputResponses>),
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
        use StateInput as Input;
        match (self, input) {
            // Starting: nothing exists yet.
            (Self::Starting, Input::Start) => Opening::dial(core, now),
            (Self::Starting, Input::Stop) => end(core, now),
            (state @ Self::Starting, Input::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Starting);
                state
            }

            // Opening: a link is being dialled, or a session negotiated.
            (Self::Opening(opening), Input::Up) => opening.handle_up(core, now),
            (Self::Opening(opening), Input::DialFailed(cause)) => {
                opening.dial_failed(core, now, cause)
            }
            (Self::Opening(opening), Input::Frame(frame)) => {
                opening.handle_frame(core, now, &frame)
            }
            (Self::Opening(opening), Input::OversizedFrame { size, prefix }) => {
                opening.handle_oversized_frame(core, now, size, &prefix)
            }
            (Self::Opening(opening), Input::Down(cause)) => opening.handle_down(core, now, cause),
            (Self::Opening(opening), Input::SendFailed(id, error)) => {
                opening.send_failed(core, now, id, error)
            }
            (Self::Opening(opening), Input::Timer(Timer::Opening)) => opening.timed_out(core, now),
            (Self::Opening(opening), Input::Timer(Timer::Probe)) => {
                opening.probe_timed_out(core, now)
            }
            (Self::Opening(opening), Input::Stop) => close(core, now, opening.link()),
            (state @ Self::Opening(_), Input::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Opening);
                state
            }

            // Ready: a session is open.
            (Self::Ready(ready), Input::Frame(frame)) => ready.handle_frame(core, now, &frame),
            (Self::Ready(ready), Input::OversizedFrame { size, prefix }) => {
                ready.handle_oversized_frame(core, now, size, &prefix)
            }
            (Self::Ready(ready), Input::Down(cause)) => ready.handle_down(core, now, cause),
            (Self::Ready(ready), Input::SendFailed(id, error)) => {
                ready.send_failed(core, now, id, error)
            }
            (Self::Ready(mut ready), Input::Timer(Timer::Deadline(id))) => {
                ready.handle_deadline(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Timer(Timer::Resend(id))) => {
                ready.resend(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Timer(Timer::ReopenSubscriptionStream)) => {
                ready.session.reopen_subscription_stream(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Timer(Timer::ResendDeferred)) => {
                ready.resend_deferred(core);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Call(id, kind, options)) => {
                ready.start_call(core, now, id, kind, options);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::ListSubscriptionsChanged) => {
                ready.session.refresh_subscriptions(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Cancel(id, cancellation)) => {
                ready.cancel(core, now, id, &cancellation);
                Self::Ready(ready)
            }
            (Self::Ready(ready), Input::Notify(message)) => {
                ready.notify(core, message);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Respond(request, reply)) => {
                ready.respond(core, now, request, reply);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Answers(id, responses)) => {
                ready.provide_input(core, now, id, responses);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), Input::Stop) => {
                ready.cancel_peer_requests(core);
                close(core, now, ready.link())
            }

            // Backoff: there is no link; the next dial is scheduled.
            (Self::Backoff, Input::Timer(Timer::Redial)) => Opening::dial(core, now),
            (Self::Backoff, Input::Stop) => end(core, now),
            (state @ Self::Backoff, Input::Call(id, kind, options)) => {
                core.queue_or_refuse(now, id, kind, options, ConnectionState::Backoff);
                state
            }

            // Closing: all calls ended when it began.
            (
                Self::Closing(Closing::AwaitingLink(_)),
                Input::Timer(Timer::CloseTimeout) | Input::Down(_) | Input::DialFailed(_),
            ) => enter_ended(core),
            (state @ Self::Closing(_), Input::Call(id, kind, _)) => {
                core.refuse(id, &kind, core.closed_failure());
                state
            }

            // Transitions that are the same in every state without a session.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                Input::Timer(Timer::Deadline(id)),
            ) => {
                core.fail_timed_out(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                Input::Timer(Timer::Resend(id)),
            ) => {
                core.queue_after_pause(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                Input::Cancel(id, cancellation),
            ) => {
                core.fail(now, id, cancellation.failure());
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                Input::Answers(id, responses),
            ) => {
                core.queue_input(now, id, responses);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff | Self::Closing(_)),
                Input::Notify(message),
            ) => {
                core.observe(|| TelemetryEvent::NotificationDropped {
                    method: message.method().to_owned().into(),
                });
                state
            }
            // Expired ids of cancelled calls are removed in every state but the last.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Ready(_) | Self::Backoff),
                Input::Timer(Timer::SweepCancelledCalls),
            ) => {
                core.sweep(now);
                state
            }

            // Inputs that do not matter in this state are ignored on purpose.
            (
                state @ Self::Starting,
                Input::Up
                | Input::DialFailed(_)
                | Input::Frame(_)
                | Input::OversizedFrame { .. }
                | Input::Down(_)
                | Input::SendFailed(..)
                | Input::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | Input::ListSubscriptionsChanged
                | Input::Respond(..),
            )
            | (
                state @ Self::Opening(_),
                Input::Start
                | Input::Timer(
                    Timer::Redial
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | Input::ListSubscriptionsChanged
                | Input::Respond(..),
            )
            | (
                state @ Self::Ready(_),
                Input::Start
                | Input::Up
                | Input::DialFailed(_)
                | Input::Timer(Timer::Opening | Timer::Probe | Timer::Redial | Timer::CloseTimeout),
            )
            | (
                state @ Self::Backoff,
                Input::Start
                | Input::Up
                | Input::DialFailed(_)
                | Input::Frame(_)
                | Input::OversizedFrame { .. }
                | Input::Down(_)
                | Input::SendFailed(..)
                | Input::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::CloseTimeout
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred,
                )
                | Input::ListSubscriptionsChanged
                | Input::Respond(..),
            )
            | (
                state @ Self::Closing(Closing::AwaitingLink(_)),
                Input::Start
                | Input::Up
                | Input::Frame(_)
                | Input::OversizedFrame { .. }
                | Input::SendFailed(..)
                | Input::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::ReopenSubscriptionStream
                    | Timer::ResendDeferred
                    | Timer::SweepCancelledCalls
                    | Timer::Deadline(_)
                    | Timer::Resend(_),
                )
                | Input::ListSubscriptionsChanged
                | Input::Cancel(..)
                | Input::Respond(..)
                | Input::Answers(..)
                | Input::Stop,
            )
            | (
                state @ Self::Closing(Closing::Ended),
                Input::Start
                | Input::Up
                | Input::DialFailed(_)
                | Input::Frame(_)
                | Input::OversizedFrame { .. }
                | Input::Down(_)
                | Input::SendFailed(..)
                | Input::Timer(_)
                | Input::ListSubscriptionsChanged
                | Input::Cancel(..)
                | Input::Respond(..)
                | Input::Answers(..)
                | Input::Stop,
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

pub(super) fn enter_ended(core: &mut Core) -> State {
    core.timers.disarm_all();
    // There are no more sweeps, and no link that could deliver a late response.
    core.cancelled_calls.clear();
    State::Closing(Closing::Ended)
}
