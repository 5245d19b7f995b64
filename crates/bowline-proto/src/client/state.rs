//! The five states, and the table of what each does with each event.

use std::{fmt, time::Duration};

use bytes::Bytes;

use super::{
    CallId, CallOptions, Cancel, Cause, Event as HostEvent, Failure, Link, Output, PeerRequest,
    Refusal, Telemetry, core::Core, opening::Opening, ready::Ready, request::Want, timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{Draft, ErrorObject, RawJson},
    model::InputResponses,
};

/// The name of a state, for errors, events and telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateName {
    /// Nothing was dialled yet.
    Starting,
    /// A link is dialled, or a session is being negotiated on it.
    Opening,
    /// A session is open.
    Ready,
    /// The connection fell, and waits before the next attempt.
    Backoff,
    /// The connection was stopped, or has ended.
    Closing,
}

impl StateName {
    /// The name in lower case.
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

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a connection. What only one state needs lives in its variant.
#[derive(Debug)]
pub(super) enum State {
    Starting,
    Opening(Box<Opening>),
    Ready(Box<Ready>),
    Backoff,
    Closing(Closing),
}

/// How far the end has come.
#[derive(Debug)]
pub(super) enum Closing {
    /// The link was told; it has a moment to confirm.
    Lingering(Link),
    /// It is over.
    Ended,
}

/// Everything that can happen to a connection.
#[derive(Debug)]
pub(super) enum Happening {
    Start,
    Up,
    DialFailed(Cause),
    Frame(Bytes),
    Oversize { size: usize, prefix: Bytes },
    Down(Cause),
    Refused(Option<u64>, Refusal),
    Timer(Timer),
    Call(CallId, Want, CallOptions),
    WatchChanged,
    Cancel(CallId, Cancel),
    Notify(Draft),
    Respond(PeerRequest, Result<RawJson, ErrorObject>),
    Input(CallId, Option<InputResponses>),
    Stop,
}

impl State {
    pub(super) fn name(&self) -> StateName {
        match self {
            Self::Starting => StateName::Starting,
            Self::Opening(_) => StateName::Opening,
            Self::Ready(_) => StateName::Ready,
            Self::Backoff => StateName::Backoff,
            Self::Closing(_) => StateName::Closing,
        }
    }

    /// The link that this state has, or waits for.
    pub(super) fn link(&self) -> Option<Link> {
        match self {
            Self::Opening(opening) => Some(opening.link()),
            Self::Ready(ready) => Some(ready.link()),
            Self::Closing(Closing::Lingering(link)) => Some(*link),
            Self::Starting | Self::Backoff | Self::Closing(Closing::Ended) => None,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Closing(Closing::Ended))
    }

    /// The table: every state, everything that can happen, and no wildcard.
    // tidy: long table, one arm for each row of the transition table
    pub(super) fn step(self, core: &mut Core, now: Instant, happening: Happening) -> Self {
        use Happening as H;
        match (self, happening) {
            // Starting: nothing exists yet.
            (Self::Starting, H::Start) => Opening::dial(core, now),
            (Self::Starting, H::Stop) => end(core, now),
            (state @ Self::Starting, H::Call(id, want, options)) => {
                core.park_or_refuse(now, id, want, options, StateName::Starting);
                state
            }

            // Opening: a link is on its way, or a session is negotiated.
            (Self::Opening(opening), H::Up) => opening.up(core, now),
            (Self::Opening(opening), H::DialFailed(cause)) => opening.dial_failed(core, now, cause),
            (Self::Opening(opening), H::Frame(frame)) => opening.frame(core, now, &frame),
            (Self::Opening(opening), H::Oversize { size, prefix }) => {
                opening.oversize(core, now, size, &prefix)
            }
            (Self::Opening(opening), H::Down(cause)) => opening.down(core, now, cause),
            (Self::Opening(opening), H::Refused(id, refusal)) => {
                opening.refused(core, now, id, refusal)
            }
            (Self::Opening(opening), H::Timer(Timer::Opening)) => opening.timed_out(core, now),
            (Self::Opening(opening), H::Timer(Timer::Probe)) => opening.probe_timed_out(core, now),
            (Self::Opening(opening), H::Stop) => close(core, now, opening.link()),
            (state @ Self::Opening(_), H::Call(id, want, options)) => {
                core.park_or_refuse(now, id, want, options, StateName::Opening);
                state
            }

            // Ready: a session is open.
            (Self::Ready(ready), H::Frame(frame)) => ready.frame(core, now, &frame),
            (Self::Ready(ready), H::Oversize { size, prefix }) => {
                ready.oversize(core, now, size, &prefix)
            }
            (Self::Ready(ready), H::Down(cause)) => ready.down(core, now, cause),
            (Self::Ready(ready), H::Refused(id, refusal)) => ready.refused(core, now, id, refusal),
            (Self::Ready(mut ready), H::Timer(Timer::Deadline(id))) => {
                ready.deadline(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::Resend(id))) => {
                ready.resend(core, now, id);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::Relisten)) => {
                ready.relisten(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Timer(Timer::Answers)) => {
                ready.offer_answers(core);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Call(id, want, options)) => {
                ready.call(core, now, id, want, options);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::WatchChanged) => {
                ready.watch_changed(core, now);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Cancel(id, cancel)) => {
                ready.cancel(core, now, id, &cancel);
                Self::Ready(ready)
            }
            (Self::Ready(ready), H::Notify(draft)) => {
                ready.notify(core, draft);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Respond(request, answer)) => {
                ready.respond(core, now, request, answer);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Input(id, responses)) => {
                ready.answer_questions(core, now, id, responses);
                Self::Ready(ready)
            }
            (Self::Ready(mut ready), H::Stop) => {
                ready.withdraw_peer_requests(core);
                close(core, now, ready.link())
            }

            // Backoff: there is no link; the next dial is scheduled.
            (Self::Backoff, H::Timer(Timer::Redial)) => Opening::dial(core, now),
            (Self::Backoff, H::Stop) => end(core, now),
            (state @ Self::Backoff, H::Call(id, want, options)) => {
                core.park_or_refuse(now, id, want, options, StateName::Backoff);
                state
            }

            // Closing: callers were answered when it began.
            (
                Self::Closing(Closing::Lingering(_)),
                H::Timer(Timer::Linger) | H::Down(_) | H::DialFailed(_),
            ) => ended(core),
            (state @ Self::Closing(_), H::Call(id, want, _)) => {
                core.refuse(id, &want, core.over());
                state
            }

            // What is the same without a session, wherever that is.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Timer(Timer::Deadline(id)),
            ) => {
                core.expire_unsent(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Timer(Timer::Resend(id)),
            ) => {
                core.end_pause(now, id);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Cancel(id, cancel),
            ) => {
                core.fail(now, id, cancel.failure());
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff),
                H::Input(id, responses),
            ) => {
                core.park_input(now, id, responses);
                state
            }
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Backoff | Self::Closing(_)),
                H::Notify(draft),
            ) => {
                core.observe(|| Telemetry::NotificationDropped {
                    method: draft.method().to_owned().into(),
                });
                state
            }
            // Expired tombstones are swept in every state but the last.
            (
                state @ (Self::Starting | Self::Opening(_) | Self::Ready(_) | Self::Backoff),
                H::Timer(Timer::Sweep),
            ) => {
                core.sweep(now);
                state
            }

            // What cannot matter any more, or not yet: dropped, on purpose.
            (
                state @ Self::Starting,
                H::Up
                | H::DialFailed(_)
                | H::Frame(_)
                | H::Oversize { .. }
                | H::Down(_)
                | H::Refused(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::Linger
                    | Timer::Relisten
                    | Timer::Answers,
                )
                | H::WatchChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Opening(_),
                H::Start
                | H::Timer(Timer::Redial | Timer::Linger | Timer::Relisten | Timer::Answers)
                | H::WatchChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Ready(_),
                H::Start
                | H::Up
                | H::DialFailed(_)
                | H::Timer(Timer::Opening | Timer::Probe | Timer::Redial | Timer::Linger),
            )
            | (
                state @ Self::Backoff,
                H::Start
                | H::Up
                | H::DialFailed(_)
                | H::Frame(_)
                | H::Oversize { .. }
                | H::Down(_)
                | H::Refused(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Linger
                    | Timer::Relisten
                    | Timer::Answers,
                )
                | H::WatchChanged
                | H::Respond(..),
            )
            | (
                state @ Self::Closing(Closing::Lingering(_)),
                H::Start
                | H::Up
                | H::Frame(_)
                | H::Oversize { .. }
                | H::Refused(..)
                | H::Timer(
                    Timer::Opening
                    | Timer::Probe
                    | Timer::Redial
                    | Timer::Relisten
                    | Timer::Answers
                    | Timer::Sweep
                    | Timer::Deadline(_)
                    | Timer::Resend(_),
                )
                | H::WatchChanged
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
                | H::Oversize { .. }
                | H::Down(_)
                | H::Refused(..)
                | H::Timer(_)
                | H::WatchChanged
                | H::Cancel(..)
                | H::Respond(..)
                | H::Input(..)
                | H::Stop,
            ) => state,
        }
    }
}

/// Begins the end: every caller is answered now, the link has a moment.
fn close(core: &mut Core, now: Instant, link: Link) -> State {
    core.fail_all_calls(now, &Failure::Shutdown);
    core.timers.disarm_all();
    core.output(Output::Hangup { link });
    core.timers.arm(Timer::Linger, now + core.config.linger);
    State::Closing(Closing::Lingering(link))
}

/// Ends where there is no link to wait for.
pub(super) fn end(core: &mut Core, now: Instant) -> State {
    core.fail_all_calls(now, &Failure::Shutdown);
    ended(core)
}

fn ended(core: &mut Core) -> State {
    core.timers.disarm_all();
    // There is no sweep any more, and no link that could answer late.
    core.tombstones.clear();
    State::Closing(Closing::Ended)
}

/// The connection fell, or did not come up: everybody who depends on the link
/// is answered, and the next attempt is scheduled.
pub(super) fn fall(core: &mut Core, now: Instant, fallen: Fallen) -> State {
    let Fallen {
        hang_up,
        mut cause,
        redial,
    } = fallen;
    let had_session = std::mem::take(&mut core.in_session);
    if let Some(link) = hang_up {
        core.output(Output::Hangup { link });
    }
    for timer in [
        Timer::Opening,
        Timer::Probe,
        Timer::Relisten,
        Timer::Answers,
    ] {
        core.timers.disarm(timer);
    }
    core.fail_bound_calls(now, &cause);
    let delay = match redial {
        Redial::AtOnce => Duration::ZERO,
        Redial::AfterBackoff => {
            let unit = core.rng.unit();
            let delay = core.config.backoff.delay(core.waits, unit);
            core.waits = core.waits.saturating_add(1);
            delay.max(cause.retry_after().unwrap_or_default())
        }
    };
    let restarts = (had_session && redial == Redial::AfterBackoff)
        .then(|| core.falls_too_often(now))
        .flatten();
    if let Some(limit) = restarts {
        cause = Cause::too_many_restarts(limit, cause);
    }
    core.fall = Some(cause.clone());
    let most = core.config.max_attempts;
    if restarts.is_some() || most.is_some_and(|most| core.failures >= most) {
        core.gave_up = Some(cause.clone());
        core.event(HostEvent::Fell {
            cause: cause.clone(),
            retry_in: None,
        });
        core.fail_all_calls(now, &Failure::GaveUp(cause));
        return ended(core);
    }
    core.event(HostEvent::Fell {
        cause,
        retry_in: Some(delay),
    });
    core.timers.arm(Timer::Redial, now + delay);
    State::Backoff
}

/// A connection that fell.
#[derive(Debug)]
pub(super) struct Fallen {
    /// The link to close, where it is not dead already.
    pub(super) hang_up: Option<Link>,
    pub(super) cause: Cause,
    pub(super) redial: Redial,
}

/// When to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redial {
    /// The attempt taught us how to do better; there is nothing to wait for.
    AtOnce,
    AfterBackoff,
}
