//! The client's streams of changes, while they are open.

use std::collections::{BTreeMap, BTreeSet};

use super::RequestContext;
use crate::{
    Instant,
    jsonrpc::RequestId,
    model::{ServerCapabilities, SubscriptionFilter, task},
};

/// How many bytes the names of what is watched may have together, in a session
/// or in one stream: they are held as long as it lasts.
pub(super) const MOST_WATCHED: usize = 1024 * 1024;

/// The open streams, by the id of the request that each of them is.
#[derive(Debug, Default)]
pub(super) struct Listens {
    // Boxed: a map makes room for eleven at once, and most have one.
    open: BTreeMap<RequestId, Box<Listen>>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Listen {
    pub(super) context: RequestContext,
    pub(super) filter: Filter,
    pub(super) started: Instant,
}

/// What a stream brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: BTreeSet<Box<str>>,
    pub(super) tasks: BTreeSet<Box<str>>,
}

impl Listens {
    pub(super) fn open(&mut self, id: RequestId, listen: Listen) {
        self.open.insert(id, Box::new(listen));
    }

    pub(super) fn close(&mut self, id: &RequestId) -> Option<Listen> {
        self.open.remove(id).map(|listen| *listen)
    }

    pub(super) fn close_first(&mut self) -> Option<(RequestId, Listen)> {
        let (id, listen) = self.open.pop_first()?;
        Some((id, *listen))
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&RequestId, &Listen)> {
        self.open.iter().map(|(id, listen)| (id, &**listen))
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }
}

impl Filter {
    /// The part of what is wanted that the server declared to bring.
    pub(super) fn honour(
        wanted: &SubscriptionFilter,
        context: &RequestContext,
        declared: &ServerCapabilities,
    ) -> Self {
        let granted = |wanted: Option<bool>, path| wanted == Some(true) && declared.has(path);
        let set = |wanted: &Option<Vec<String>>, may: bool| {
            let mut set = BTreeSet::new();
            // One by one: to collect them would sort them first.
            for item in wanted.iter().flatten().filter(|_| may) {
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
            tools: granted(wanted.tools_list_changed, "tools.listChanged"),
            prompts: granted(wanted.prompts_list_changed, "prompts.listChanged"),
            resources: granted(wanted.resources_list_changed, "resources.listChanged"),
            uris: set(
                &wanted.resource_subscriptions,
                declared.has("resources.subscribe"),
            ),
            tasks: set(&wanted.task_ids, tasks),
        }
    }

    /// Whether that is more than one stream may bring.
    pub(super) fn is_too_much(&self, max_subscriptions: usize) -> bool {
        let names = || self.uris.iter().chain(&self.tasks);
        let bytes: usize = names().map(|name| name.len()).sum();
        names().count() > max_subscriptions || bytes > MOST_WATCHED
    }

    /// The same as it stands on the wire: what is not brought is not mentioned.
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
