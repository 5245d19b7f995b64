//! The stream of changes in the stateless era: asked for, renewed, restored.

use std::{collections::BTreeSet, time::Duration};

use super::{
    CallId, Event, Failure, Link, Outcome, Watch, calls::Phase, core::Core, dress::Dress,
    stateless::done, timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{Draft, ErrorObject, code},
    model::{SubscriptionFilter, SubscriptionsListenParams, method},
};

/// The stream of changes, and the one that is about to replace it.
///
/// A changed wish opens a second stream first and closes the old one once the
/// new one is acknowledged, so that no change falls between them.
#[derive(Debug, Default)]
pub(super) struct Listening {
    current: Option<Stream>,
    next: Option<Stream>,
    waiting: Vec<(CallId, Box<str>)>,
    /// Attempts that failed since the last acknowledgement.
    attempt: u32,
    /// Whether changes may have been missed.
    gap: bool,
    /// The server has no such method.
    unsupported: bool,
}

#[derive(Debug)]
struct Stream {
    wire: u64,
    filter: Filter,
}

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Current,
    Next,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    watch: Watch,
    uris: BTreeSet<Box<str>>,
}

impl Listening {
    /// No stream yet. In a session that replaces another, what was wanted
    /// before has not been heard of for a while.
    pub(super) fn new(replaces: bool) -> Self {
        Self {
            gap: replaces,
            ..Self::default()
        }
    }

    /// Whether changes of this resource arrive already.
    pub(super) fn honours(&self, uri: &str) -> bool {
        self.current
            .as_ref()
            .is_some_and(|stream| stream.filter.uris.contains(uri))
    }

    pub(super) fn wait_for(&mut self, call: CallId, uri: Box<str>) {
        self.waiting.push((call, uri));
    }

    /// Whether `wire` is one of our streams.
    pub(super) fn knows(&self, wire: u64) -> bool {
        let mut streams = self.current.iter().chain(&self.next);
        streams.any(|stream| stream.wire == wire)
    }

    /// Brings the stream in line with what is wanted; gives the streams that
    /// are not wanted any more.
    pub(super) fn refresh(
        &mut self,
        core: &mut Core,
        now: Instant,
        link: Link,
        standing: &[u8],
    ) -> Vec<u64> {
        let wanted = self.wanted(core);
        let mut dropped = Vec::new();
        if self.next.as_ref().is_some_and(|next| next.filter == wanted) {
            return dropped;
        }
        dropped.extend(self.next.take().map(|stream| stream.wire));
        if wanted.is_empty() {
            dropped.extend(self.current.take().map(|stream| stream.wire));
            core.timers.disarm(Timer::Relisten);
            self.gap = false;
        } else if self
            .current
            .as_ref()
            .is_some_and(|current| current.filter == wanted)
        {
            core.timers.disarm(Timer::Relisten);
        } else if self.unsupported {
            self.refuse_waiting(core, now, None);
        } else {
            self.open(core, now, link, standing, wanted);
        }
        dropped
    }

    /// The server acknowledged a stream; gives the one that it replaces.
    pub(super) fn acknowledged(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire: u64,
        honoured: &SubscriptionFilter,
    ) -> Option<u64> {
        let mut stream = self.next.take_if(|next| next.wire == wire)?;
        core.timers.disarm(Timer::Relisten);
        self.attempt = 0;
        let honoured: BTreeSet<Box<str>> = honoured
            .resource_subscriptions
            .iter()
            .flatten()
            .map(|uri| uri.as_str().into())
            .collect();
        stream.filter.uris.retain(|uri| honoured.contains(uri));
        for (call, uri) in std::mem::take(&mut self.waiting) {
            if stream.filter.uris.contains(&uri) {
                if core.finish(now, call, done()).is_some() {
                    core.intents.uris.insert(uri);
                }
            } else {
                core.fail(now, call, Failure::NotHonoured);
            }
        }
        let lost: Vec<_> = core
            .intents
            .uris
            .difference(&stream.filter.uris)
            .cloned()
            .collect();
        for uri in lost {
            core.lose_subscription(uri, None);
        }
        if std::mem::take(&mut self.gap) {
            let uris = stream.filter.uris.iter().cloned().collect();
            core.event(Event::Resubscribed { uris });
        }
        self.current.replace(stream).map(|old| old.wire)
    }

    /// A stream ended, in order or not.
    pub(super) fn ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire: u64,
        error: Option<&ErrorObject>,
    ) {
        match self.remove(wire) {
            Some(Which::Next) => {
                self.unsupported = error.is_some_and(|error| error.code == code::METHOD_NOT_FOUND);
                self.refuse_waiting(core, now, error);
            }
            Some(Which::Current) => {}
            None => return,
        }
        if self.unsupported {
            for uri in std::mem::take(&mut core.intents.uris) {
                core.lose_subscription(uri, error.cloned());
            }
        } else {
            self.schedule_if_wanted(core, now, Duration::ZERO);
        }
    }

    /// The request for a stream was not taken or not delivered, which says
    /// nothing about what the server would honour. Those who wait for it end
    /// with `outcome`, or wait for the next attempt.
    pub(super) fn undelivered(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire: u64,
        outcome: Option<&Outcome>,
    ) {
        match (self.remove(wire), outcome) {
            (Some(Which::Next), Some(outcome)) => {
                for (call, _) in std::mem::take(&mut self.waiting) {
                    core.finish(now, call, outcome.clone());
                }
            }
            (Some(_), _) => {}
            (None, _) => return,
        }
        let wait = match outcome {
            Some(Outcome::Failed(Failure::Undelivered(cause))) => cause.retry_after(),
            _ => None,
        };
        self.schedule_if_wanted(core, now, wait.unwrap_or_default());
    }

    /// Forgets a stream; says which of the two it was.
    fn remove(&mut self, wire: u64) -> Option<Which> {
        let is_it = |stream: &mut Stream| stream.wire == wire;
        let which = if self.next.take_if(is_it).is_some() {
            Which::Next
        } else {
            self.current.take_if(is_it)?;
            Which::Current
        };
        self.gap |= self.current.is_none();
        Some(which)
    }

    /// Asks again after a while, unless what there is will do.
    fn schedule_if_wanted(&mut self, core: &mut Core, now: Instant, at_least: Duration) {
        let wanted = self.wanted(core);
        let current = self.current.as_ref().map(|stream| &stream.filter);
        if self.next.is_none() && !wanted.is_empty() && current != Some(&wanted) {
            self.schedule_after(core, now, at_least);
        }
    }

    /// The acknowledgement is overdue, or it is time for another attempt.
    /// Gives a stream to withdraw.
    pub(super) fn overdue(&mut self) -> Option<u64> {
        let stream = self.next.take()?;
        self.gap |= self.current.is_none();
        Some(stream.wire)
    }

    pub(super) fn schedule(&mut self, core: &mut Core, now: Instant) {
        self.schedule_after(core, now, Duration::ZERO);
    }

    fn schedule_after(&mut self, core: &mut Core, now: Instant, at_least: Duration) {
        let unit = core.rng.unit();
        let delay = core.config.backoff.delay(self.attempt, unit).max(at_least);
        self.attempt = self.attempt.saturating_add(1);
        core.timers.arm(Timer::Relisten, now + delay);
    }

    fn wanted(&mut self, core: &Core) -> Filter {
        let subscribing = |call: &CallId| {
            core.calls
                .get(*call)
                .is_some_and(|call| matches!(call.phase, Phase::Subscribing))
        };
        self.waiting.retain(|(call, _)| subscribing(call));
        let mut uris = core.intents.uris.clone();
        uris.extend(self.waiting.iter().map(|(_, uri)| uri.clone()));
        Filter {
            watch: core.intents.watch,
            uris,
        }
    }

    fn open(&mut self, core: &mut Core, now: Instant, link: Link, standing: &[u8], wanted: Filter) {
        let wire = core.ids.fresh();
        let Ok(mut draft) = Draft::new(method::SUBSCRIPTIONS_LISTEN, &wanted.params()) else {
            return;
        };
        let dress = Dress {
            standing,
            ..Dress::default()
        };
        dress.put_on(&mut draft, &mut core.scratch);
        core.send(link, Some(wire), draft.into_frame(wire));
        core.timers
            .arm(Timer::Relisten, now + core.config.timeouts.other);
        self.next = Some(Stream {
            wire,
            filter: wanted,
        });
    }

    fn refuse_waiting(&mut self, core: &mut Core, now: Instant, error: Option<&ErrorObject>) {
        for (call, _) in std::mem::take(&mut self.waiting) {
            let outcome = match error {
                Some(error) => Outcome::Refused(error.clone()),
                None => Outcome::Failed(Failure::NotHonoured),
            };
            core.finish(now, call, outcome);
        }
    }
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.watch.is_empty() && self.uris.is_empty()
    }

    fn params(&self) -> SubscriptionsListenParams {
        let uris: Vec<String> = self.uris.iter().map(ToString::to_string).collect();
        let filter = SubscriptionFilter {
            tools_list_changed: self.watch.tools.then_some(true),
            prompts_list_changed: self.watch.prompts.then_some(true),
            resources_list_changed: self.watch.resources.then_some(true),
            resource_subscriptions: (!uris.is_empty()).then_some(uris),
            ..SubscriptionFilter::default()
        };
        SubscriptionsListenParams::new(filter)
    }
}
