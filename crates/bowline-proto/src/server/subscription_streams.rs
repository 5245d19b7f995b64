//! The client's open subscription streams.

use std::collections::{BTreeMap, BTreeSet};

use super::RequestContext;
use crate::{
    Instant,
    jsonrpc::RequestId,
    model::{ServerCapabilities, SubscriptionFilter, task},
};

/// The limit for the URIs of a session or of one stream, in bytes. They are
/// held as long as it lasts.
pub(super) const MAX_SUBSCRIBED_BYTES: usize = 1024 * 1024;

/// The open streams, by the id of the request that opened each.
#[derive(Debug, Default)]
pub(super) struct SubscriptionStreams {
    // Boxed: a map allocates room for eleven at once, and most clients have
    // one.
    open: BTreeMap<RequestId, Box<SubscriptionStream>>,
}

/// An open stream.
#[derive(Debug)]
pub(super) struct SubscriptionStream {
    pub(super) context: RequestContext,
    pub(super) filter: Filter,
    pub(super) started: Instant,
}

/// What a stream delivers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: BTreeSet<Box<str>>,
    pub(super) tasks: BTreeSet<Box<str>>,
}

impl SubscriptionStreams {
    pub(super) fn open(&mut self, id: RequestId, stream: SubscriptionStream) {
        self.open.insert(id, Box::new(stream));
    }

    pub(super) fn close(&mut self, id: &RequestId) -> Option<SubscriptionStream> {
        self.open.remove(id).map(|stream| *stream)
    }

    pub(super) fn close_first(&mut self) -> Option<(RequestId, SubscriptionStream)> {
        let (id, stream) = self.open.pop_first()?;
        Some((id, *stream))
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&RequestId, &SubscriptionStream)> {
        self.open.iter().map(|(id, stream)| (id, &**stream))
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }
}

impl Filter {
    /// Returns the part of the requested filter that the server's capabilities
    /// cover.
    pub(super) fn from_request(
        requested: &SubscriptionFilter,
        context: &RequestContext,
        declared: &ServerCapabilities,
    ) -> Self {
        let granted = |requested: Option<bool>, path| requested == Some(true) && declared.has(path);
        let set = |requested: &Option<Vec<String>>, allowed: bool| {
            let mut set = BTreeSet::new();
            // One by one: collecting them would sort them first.
            for item in requested.iter().flatten().filter(|_| allowed) {
                set.insert(item.as_str().into());
            }
            set
        };
        let tasks = declared.has_extension(task::EXTENSION_ID)
            && context
                .client
                .capabilities
                .has_extension(task::EXTENSION_ID);
        Self {
            tools: granted(requested.tools_list_changed, "tools.listChanged"),
            prompts: granted(requested.prompts_list_changed, "prompts.listChanged"),
            resources: granted(requested.resources_list_changed, "resources.listChanged"),
            uris: set(
                &requested.resource_subscriptions,
                declared.has("resources.subscribe"),
            ),
            tasks: set(&requested.task_ids, tasks),
        }
    }

    /// Returns whether the filter exceeds the limits of one stream.
    pub(super) fn exceeds_limits(&self, max_subscriptions: usize) -> bool {
        let names = || self.uris.iter().chain(&self.tasks);
        let bytes: usize = names().map(|name| name.len()).sum();
        names().count() > max_subscriptions || bytes > MAX_SUBSCRIBED_BYTES
    }

    /// Returns the filter as sent on the wire: what is not delivered is
    /// omitted.
    pub(super) fn to_wire(&self) -> SubscriptionFilter {
        let list = |items: &BTreeSet<Box<str>>| {
            (!items.is_empty()).then(|| items.iter().map(ToString::to_string).collect())
        };
        SubscriptionFilter {
            tools_list_changed: self.tools.then_some(true),
            prompts_list_changed: self.prompts.then_some(true),
            resources_list_changed: self.resources.then_some(true),
            resource_subscriptions: list(&self.uris),
            task_ids: list(&self.tasks),
            ..SubscriptionFilter::default()
        }
    }
}
