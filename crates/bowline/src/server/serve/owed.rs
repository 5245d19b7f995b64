//! Changes that a client is told of later.
//!
//! Progress and log messages that a client has no ears for are dropped. A
//! change must not be: a client that missed it would keep what is no longer
//! true. But one notice of it is enough, however often it happened.

use std::collections::BTreeSet;

use crate::proto::server::{Connection, Kind};

/// What a client is to be told once it reads again.
#[derive(Debug, Default)]
pub(super) struct Owed {
    lists: Vec<Kind>,
    resources: BTreeSet<Box<str>>,
    /// Pays it, once something is owed: servers in which nothing ever changes
    /// do not know how.
    pay: Option<fn(Self, &mut Connection)>,
}

impl Owed {
    pub(super) fn list(&mut self, kind: Kind) {
        self.pay = Some(Self::pay_all);
        if !self.lists.contains(&kind) {
            self.lists.push(kind);
        }
    }

    /// A resource that is watched, so that there are no more of them than may
    /// be watched.
    pub(super) fn resource(&mut self, uri: &str) {
        self.pay = Some(Self::pay_all);
        if !self.resources.contains(uri) {
            self.resources.insert(uri.into());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pay.is_none()
    }

    /// Tells the client all of it.
    pub(super) fn pay(&mut self, machine: &mut Connection) {
        if let Some(pay) = self.pay {
            pay(std::mem::take(self), machine);
        }
    }

    fn pay_all(self, machine: &mut Connection) {
        for kind in self.lists {
            machine.list_changed(kind);
        }
        for uri in self.resources {
            machine.resource_updated(&uri);
        }
    }
}
