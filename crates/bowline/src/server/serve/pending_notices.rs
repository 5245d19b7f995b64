//! Change notifications sent later.
//!
//! Progress and log messages are dropped if a client does not read. A change
//! must not be: a client that missed it would keep stale data. But one
//! notification is enough, however often it happened.

use std::collections::{BTreeMap, BTreeSet};

use crate::proto::{
    model::TaskChangedParams,
    server::{Connection, ListKind},
};

/// The notifications to send once the client reads again.
#[derive(Debug, Default)]
pub(super) struct PendingNotices {
    lists: Vec<ListKind>,
    resources: BTreeSet<Box<str>>,
    /// The last change of each task.
    tasks: BTreeMap<Box<str>, TaskChangedParams>,
    /// Sends them; set once something is pending, so servers without changes do
    /// not link this code.
    flush_fn: Option<fn(Self, &mut Connection)>,
}

impl PendingNotices {
    pub(super) fn add_list(&mut self, kind: ListKind) {
        self.flush_fn = Some(Self::flush_all);
        if !self.lists.contains(&kind) {
            self.lists.push(kind);
        }
    }

    /// Adds a subscribed resource. There are at most as many as subscriptions.
    pub(super) fn add_resource(&mut self, uri: &str) {
        self.flush_fn = Some(Self::flush_all);
        if !self.resources.contains(uri) {
            self.resources.insert(uri.into());
        }
    }

    /// Adds a change of a task that a stream asks for. There are at most as many as
    /// subscriptions.
    pub(super) fn add_task(&mut self, params: &TaskChangedParams) {
        self.flush_fn = Some(Self::flush_all);
        self.tasks
            .insert(params.task_id.as_str().into(), params.clone());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flush_fn.is_none()
    }

    /// Sends all of them.
    pub(super) fn flush(&mut self, machine: &mut Connection) {
        if let Some(flush) = self.flush_fn {
            flush(std::mem::take(self), machine);
        }
    }

    fn flush_all(self, machine: &mut Connection) {
        for kind in self.lists {
            machine.list_changed(kind);
        }
        for uri in self.resources {
            machine.resource_updated(&uri);
        }
        for params in self.tasks.values() {
            machine.task_changed(params);
        }
    }
}
