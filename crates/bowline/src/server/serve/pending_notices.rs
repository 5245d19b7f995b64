//! Changes that a client is told of later.
//!
//! Progress and log messages that a client has no ears for are dropped. A
//! change must not be: a client that missed it would keep what is no longer
//! true. But one notice of it is enough, however often it happened.

use std::collections::BTreeSet;

use crate::proto::server::{Connection, ListKind};

/// What a client is to be told once it reads again.
#[derive(Debug, Default)]
pub(super) struct PendingNotices {
    lists: Vec<ListKind>,
    resources: BTreeSet<Box<str>>,
    /// Pays it, once something is owed: servers in which nothing ever changes
    /// do not know how.
    flush_fn: Option<fn(Self, &mut Connection)>,
}

impl PendingNotices {
    pub(super) fn add_list(&mut self, kind: ListKind) {
        self.flush_fn = Some(Self::flush_all);
        if !self.lists.contains(&kind) {
            self.lists.push(kind);
        }
    }

    /// A resource that is watched, so that there are no more of them than may
    /// be watched.
    pub(super) fn add_resource(&mut self, uri: &str) {
        self.flush_fn = Some(Self::flush_all);
        if !self.resources.contains(uri) {
            self.resources.insert(uri.into());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flush_fn.is_none()
    }

    /// Tells the client all of it.
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
    }
}
