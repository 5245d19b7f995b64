//! What follows a lost connection: which calls end, and when to dial again.

use std::time::Duration;

use super::{
    ConnectionError, Event, Failure, LinkId, Output,
    core::Core,
    state::{State, enter_ended},
    timer::Timer,
};
use crate::Instant;

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
        core.push_event(Event::Disconnected {
            cause: cause.clone(),
            retry_in: None,
        });
        core.fail_all_calls(now, &Failure::GaveUp(cause));
        return enter_ended(core);
    }
    core.push_event(Event::Disconnected {
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
