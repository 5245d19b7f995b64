//! The client's requests, while they are open.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Incoming, RequestContext, Telling};
use crate::{Instant, jsonrpc::RequestId};

/// The client's requests that the host has yet to answer.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: BTreeMap<u64, Open>,
    by_id: BTreeMap<RequestId, u64>,
    /// How large they are together.
    bytes: usize,
    last: u64,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: RequestId,
    pub(super) method: Cow<'static, str>,
    /// How large its parameters are, which the host holds.
    pub(super) size: usize,
    pub(super) context: RequestContext,
    pub(super) purpose: Purpose,
    pub(super) started: Instant,
    /// What the client was told about it.
    pub(super) telling: Telling,
}

/// What the machine has to remember once the request is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Plain,
    Watch(Box<str>),
    Unwatch(Box<str>),
}

impl Requests {
    pub(super) fn open(&mut self, request: Open) -> Incoming {
        self.last += 1;
        self.bytes += request.size;
        self.by_id.insert(request.id.clone(), self.last);
        self.open.insert(self.last, request);
        Incoming(self.last)
    }

    pub(super) fn close(&mut self, request: Incoming) -> Option<Open> {
        let open = self.open.remove(&request.0)?;
        self.by_id.remove(&open.id);
        self.bytes -= open.size;
        Some(open)
    }

    /// Takes out the oldest.
    pub(super) fn close_first(&mut self) -> Option<(Incoming, Open)> {
        let request = Incoming(*self.open.first_key_value()?.0);
        self.close(request).map(|open| (request, open))
    }

    pub(super) fn get(&self, request: Incoming) -> Option<&Open> {
        self.open.get(&request.0)
    }

    pub(super) fn get_mut(&mut self, request: Incoming) -> Option<&mut Open> {
        self.open.get_mut(&request.0)
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<Incoming> {
        self.by_id.get(id).copied().map(Incoming)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// How large the parameters of all are together.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many ids are remembered: as many as there are requests.
    pub(super) fn ids(&self) -> usize {
        self.by_id.len()
    }
}
