//! The stream of change notifications in the stateless era: opened, updated and
//! restored.

use std::{collections::BTreeSet, time::Duration};

use super::{
    CallId, Event, Failure, LinkId, ListSubscriptions, Outcome, calls::Phase, core::Core,
    request_meta::RequestMeta, stateless::empty_result, timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, code},
    model::{SubscriptionFilter, SubscriptionsListenParams, method},
};

/// The current stream of change notifications, and its replacement.
///
/// When the desired filter changes, a second stream is opened first, and the old one is
/// closed once the new one is acknowledged, so no change is missed.
#[derive(Debug, Default)]
pub(super) struct SubscriptionStreams {
    current: Option<Stream>,
    next: Option<Stream>,
    waiting: Vec<(CallId, Box<str>)>,
    /// Failed attempts since the last acknowledgement.
    attempt: u32,
    /// Whether changes may have been missed.
    may_have_missed: bool,
    /// Whether the server does not support the method.
    unsupported: bool,
    /// Whether the server refused a stream with tasks in it. They are polled anyway, and
    /// must not cost the other subscriptions.
    refuses_tasks: bool,
}

#[derive(Debug)]
struct Stream {
    wire_id: u64,
    filter: Filter,
}

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamSlot {
    Current,
    Next,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    lists: ListSubscriptions,
    uris: BTreeSet<Box<str>>,
    /// Tasks. That the server may not grant them all does not matter.
    tasks: BTreeSet<Box<str>>,
}

impl SubscriptionStreams {
    /// Creates the state without a stream. After a reconnection, changes may have been
    /// missed.
    pub(super) fn new(is_reconnect: bool) -> Self {
        Self {
            may_have_missed: is_reconnect,
            ..Self::default()
        }
    }

    /// Returns whether changes of this resource are already delivered.
    pub(super) fn covers(&self, uri: &str) -> bool {
        self.current
            .as_ref()
            .is_some_and(|stream| stream.filter.uris.contains(uri))
    }

    pub(super) fn add_waiting(&mut self, call: CallId, uri: Box<str>) {
        self.waiting.push((call, uri));
    }

    /// Returns whether `wire_id` is one of our streams.
    pub(super) fn contains(&self, wire_id: u64) -> bool {
        let mut streams = self.current.iter().chain(&self.next);
        streams.any(|stream| stream.wire_id == wire_id)
    }

    /// Updates the stream to match the desired filter. Returns the streams to cancel.
    pub(super) fn refresh(
        &mut self,
        core: &mut Core,
        now: Instant,
        link: LinkId,
        common_meta: &[u8],
    ) -> Vec<u64> {
        let desired = self.desired_filter(core);
        let mut dropped = Vec::new();
        if self
            .next
            .as_ref()
            .is_some_and(|next| next.filter == desired)
        {
            return dropped;
        }
        dropped.extend(self.next.take().map(|stream| stream.wire_id));
        if desired.is_empty() {
            dropped.extend(self.current.take().map(|stream| stream.wire_id));
            core.timers.disarm(Timer::ReopenSubscriptionStream);
            self.may_have_missed = false;
        } else if self
            .current
            .as_ref()
            .is_some_and(|current| current.filter == desired)
        {
            core.timers.disarm(Timer::ReopenSubscriptionStream);
        } else if self.unsupported {
            self.refuse_waiting(core, now, None);
        } else {
            self.open(core, now, link, common_meta, desired);
        }
        dropped
    }

    /// Handles the acknowledgement of a stream. Returns the stream it replaces.
    pub(super) fn acknowledged(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        granted: &SubscriptionFilter,
    ) -> Option<u64> {
        let mut stream = self.next.take_if(|next| next.wire_id == wire_id)?;
        core.timers.disarm(Timer::ReopenSubscriptionStream);
        self.attempt = 0;
        let granted: BTreeSet<Box<str>> = granted
            .resource_subscriptions
            .iter()
            .flatten()
            .map(|uri| uri.as_str().into())
            .collect();
        stream.filter.uris.retain(|uri| granted.contains(uri));
        for (call, uri) in std::mem::take(&mut self.waiting) {
            if stream.filter.uris.contains(&uri) {
                if core.finish(now, call, empty_result()).is_some() {
                    core.desired.uris.insert(uri);
                }
            } else {
                core.fail(now, call, Failure::SubscriptionRefused);
            }
        }
        let lost: Vec<_> = core
            .desired
            .uris
            .difference(&stream.filter.uris)
            .cloned()
            .collect();
        for uri in lost {
            core.drop_subscription(uri, None);
        }
        if std::mem::take(&mut self.may_have_missed) {
            let uris = stream.filter.uris.iter().cloned().collect();
            core.push_event(Event::Resubscribed { uris });
        }
        self.current.replace(stream).map(|old| old.wire_id)
    }

    /// Handles the end of a stream, with or without an error.
    pub(super) fn ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        error: Option<&ErrorObject>,
    ) {
        let next = self.next.as_ref();
        let had_tasks = next.is_some_and(|next| !next.filter.tasks.is_empty());
        match self.remove(wire_id) {
            Some(StreamSlot::Next) if had_tasks && error.is_some() => self.refuses_tasks = true,
            Some(StreamSlot::Next) => {
                self.unsupported = error.is_some_and(|error| error.code == code::METHOD_NOT_FOUND);
                self.refuse_waiting(core, now, error);
            }
            Some(StreamSlot::Current) => {}
            None => return,
        }
        if self.unsupported {
            for uri in std::mem::take(&mut core.desired.uris) {
                core.drop_subscription(uri, error.cloned());
            }
        } else {
            self.schedule_reopen_if_desired(core, now, Duration::ZERO);
        }
    }

    /// Handles a stream request that was not delivered, which does not show what the
    /// server would accept. Calls that wait for the stream end with `outcome`, or wait
    /// for the next attempt.
    pub(super) fn send_failed(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        outcome: Option<&Outcome>,
    ) {
        match (self.remove(wire_id), outcome) {
            (Some(StreamSlot::Next), Some(outcome)) => {
                for (call, _) in std::mem::take(&mut self.waiting) {
                    core.finish(now, call, outcome.clone());
                }
            }
            (Some(_), _) => {}
            (None, _) => return,
        }
        let wait = match outcome {
            Some(Outcome::Failed(Failure::NotDelivered(cause))) => cause.retry_after(),
            _ => None,
        };
        self.schedule_reopen_if_desired(core, now, wait.unwrap_or_default());
    }

    /// Removes a stream and returns which of the two it was.
    fn remove(&mut self, wire_id: u64) -> Option<StreamSlot> {
        let matches_id = |stream: &mut Stream| stream.wire_id == wire_id;
        let slot = if self.next.take_if(matches_id).is_some() {
            StreamSlot::Next
        } else {
            self.current.take_if(matches_id)?;
            StreamSlot::Current
        };
        self.may_have_missed |= self.current.is_none();
        Some(slot)
    }

    /// Schedules another attempt, unless the current stream matches the desired filter.
    fn schedule_reopen_if_desired(&mut self, core: &mut Core, now: Instant, min_delay: Duration) {
        let desired = self.desired_filter(core);
        let current = self.current.as_ref().map(|stream| &stream.filter);
        if self.next.is_none() && !desired.is_empty() && current != Some(&desired) {
            self.schedule_reopen_after(core, now, min_delay);
        }
    }

    /// Removes and returns the stream to cancel when its acknowledgement is overdue or
    /// it is time for another attempt.
    pub(super) fn take_unacknowledged(&mut self) -> Option<u64> {
        let stream = self.next.take()?;
        self.may_have_missed |= self.current.is_none();
        Some(stream.wire_id)
    }

    pub(super) fn schedule_reopen(&mut self, core: &mut Core, now: Instant) {
        self.schedule_reopen_after(core, now, Duration::ZERO);
    }

    fn schedule_reopen_after(&mut self, core: &mut Core, now: Instant, min_delay: Duration) {
        let unit = core.rng.next_f64();
        let delay = core.config.backoff.delay(self.attempt, unit).max(min_delay);
        self.attempt = self.attempt.saturating_add(1);
        core.timers
            .arm(Timer::ReopenSubscriptionStream, now + delay);
    }

    fn desired_filter(&mut self, core: &Core) -> Filter {
        let subscribing = |call: &CallId| {
            core.calls
                .get(*call)
                .is_some_and(|call| matches!(call.phase, Phase::Subscribing))
        };
        self.waiting.retain(|(call, _)| subscribing(call));
        let mut uris = core.desired.uris.clone();
        uris.extend(self.waiting.iter().map(|(_, uri)| uri.clone()));
        Filter {
            lists: core.desired.lists,
            uris,
            tasks: match self.refuses_tasks {
                true => BTreeSet::new(),
                false => core.desired.tasks.clone(),
            },
        }
    }

    fn open(
        &mut self,
        core: &mut Core,
        now: Instant,
        link: LinkId,
        common_meta: &[u8],
        desired: Filter,
    ) {
        let wire_id = core.ids.next_id();
        let Ok(mut message) = OutgoingMessage::new(method::SUBSCRIPTIONS_LISTEN, &desired.params())
        else {
            return;
        };
        let meta = RequestMeta {
            common: common_meta,
            ..RequestMeta::default()
        };
        meta.write(&mut message, &mut core.scratch);
        core.send(link, Some(wire_id), message.into_request_frame(wire_id));
        core.timers.arm(
            Timer::ReopenSubscriptionStream,
            now + core.config.timeouts.other,
        );
        self.next = Some(Stream {
            wire_id,
            filter: desired,
        });
    }

    fn refuse_waiting(&mut self, core: &mut Core, now: Instant, error: Option<&ErrorObject>) {
        for (call, _) in std::mem::take(&mut self.waiting) {
            let outcome = match error {
                Some(error) => Outcome::Error(error.clone()),
                None => Outcome::Failed(Failure::SubscriptionRefused),
            };
            core.finish(now, call, outcome);
        }
    }
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.uris.is_empty() && self.tasks.is_empty()
    }

    fn params(&self) -> SubscriptionsListenParams {
        let listed = |names: &BTreeSet<Box<str>>| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            (!names.is_empty()).then_some(names)
        };
        let filter = SubscriptionFilter {
            tools_list_changed: self.lists.tools.then_some(true),
            prompts_list_changed: self.lists.prompts.then_some(true),
            resources_list_changed: self.lists.resources.then_some(true),
            resource_subscriptions: listed(&self.uris),
            task_ids: listed(&self.tasks),
            ..SubscriptionFilter::default()
        };
        SubscriptionsListenParams::new(filter)
    }
}
