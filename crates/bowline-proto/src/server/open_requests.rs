//! The client's open requests.

use std::{borrow::Cow, collections::BTreeMap};

use super::{RequestKey, RequestNotifier};
use crate::{
    Instant,
    jsonrpc::RequestId,
    model::{LogLevel, ProgressToken},
    revision::Rules,
};

/// The client's requests that the host has not answered yet.
///
/// Each has a slot, and its key contains the slot, so answering needs no
/// search.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    slots: Vec<Option<(RequestKey, OpenRequest)>>,
    /// The empty slots.
    free_slots: Vec<usize>,
    by_id: BTreeMap<RequestId, RequestKey>,
    /// The total size of their parameters.
    bytes: usize,
    last: u64,
}

/// An open request: what the machine needs to know until it is answered.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub(super) id: RequestId,
    pub(super) method: Cow<'static, str>,
    /// The size of its parameters, which the host holds.
    pub(super) size: usize,
    pub(super) rules: &'static Rules,
    pub(super) progress_token: Option<ProgressToken>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) purpose: Purpose,
    pub(super) started: Instant,
    /// The notifications sent about it so far.
    pub(super) notifier: RequestNotifier,
}

/// The number of slots kept for the next requests when all are answered.
const MIN_SLOTS: usize = 8;

/// What to do when the host grants the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Other,
    Subscribe(Box<str>),
    Unsubscribe(Box<str>),
}

impl OpenRequests {
    pub(super) fn open(&mut self, request: OpenRequest) -> RequestKey {
        self.last += 1;
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let key = RequestKey {
            number: self.last,
            slot,
        };
        self.bytes += request.size;
        self.by_id.insert(request.id.clone(), key);
        self.slots[slot] = Some((key, request));
        key
    }

    pub(super) fn close(&mut self, request: RequestKey) -> Option<OpenRequest> {
        let slot = self.slots.get_mut(request.slot)?;
        let (_, open) = slot.take_if(|(key, _)| *key == request)?;
        self.by_id.remove(&open.id);
        self.bytes -= open.size;
        self.free_slots.push(request.slot);
        if self.by_id.is_empty() && self.slots.len() > MIN_SLOTS {
            // Give memory back after a burst of requests.
            self.slots = Vec::new();
            self.free_slots = Vec::new();
        }
        Some(open)
    }

    /// Removes all requests, oldest first.
    pub(super) fn close_all(&mut self) -> Vec<(RequestKey, OpenRequest)> {
        let last = self.last;
        let all = std::mem::take(self);
        self.last = last;
        let mut all: Vec<_> = all.slots.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(request, _)| *request);
        all
    }

    pub(super) fn get(&self, request: RequestKey) -> Option<&OpenRequest> {
        let slot = self.slots.get(request.slot)?;
        let (_, open) = slot.as_ref().filter(|(key, _)| *key == request)?;
        Some(open)
    }

    pub(super) fn get_mut(&mut self, request: RequestKey) -> Option<&mut OpenRequest> {
        let slot = self.slots.get_mut(request.slot)?;
        let (_, open) = slot.as_mut().filter(|(key, _)| *key == request)?;
        Some(open)
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<RequestKey> {
        self.by_id.get(id).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free_slots.len()
    }

    /// Returns the total size of all parameters.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of ids held: one per request.
    pub(super) fn id_count(&self) -> usize {
        self.by_id.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

    fn request(id: u64) -> OpenRequest {
        OpenRequest {
            id: id.into(),
            method: "tools/call".into(),
            size: 1,
            rules: Revision::LATEST.rules(),
            progress_token: None,
            log_level: None,
            purpose: Purpose::Other,
            started: Instant::ORIGIN,
            notifier: RequestNotifier::default(),
        }
    }

    #[test]
    fn a_place_is_used_again_and_a_name_is_not() {
        let mut requests = OpenRequests::default();
        let first = requests.open(request(1));
        assert_eq!(requests.find(&1_u64.into()), Some(first));
        assert!(requests.close(first).is_some());
        let second = requests.open(request(1));
        assert_eq!((first.slot, requests.len()), (second.slot, 1));
        assert!(requests.close(first).is_none(), "it was closed before");
        assert!(requests.get(first).is_none() && requests.get_mut(first).is_none());
        assert!(requests.get(second).is_some());
        assert_eq!((requests.bytes(), requests.id_count()), (1, 1));
    }

    #[test]
    fn what_many_needed_is_given_back() {
        let mut requests = OpenRequests::default();
        let many: Vec<_> = (0..100).map(|id| requests.open(request(id))).collect();
        assert_eq!(requests.len(), 100);
        for it in &many {
            assert!(requests.close(*it).is_some());
        }
        assert_eq!(
            (requests.len(), requests.id_count(), requests.bytes()),
            (0, 0, 0)
        );
        assert_eq!(requests.slots.capacity(), 0);
        assert!(requests.open(request(1)) > many[99], "no name comes again");
    }

    #[test]
    fn all_are_closed_in_their_order() {
        let mut requests = OpenRequests::default();
        let first = requests.open(request(1));
        let second = requests.open(request(2));
        requests.close(first);
        let third = requests.open(request(3));
        let closed: Vec<_> = requests.close_all().into_iter().map(|it| it.0).collect();
        assert_eq!(closed, [second, third]);
        assert_eq!(
            (requests.len(), requests.id_count(), requests.bytes()),
            (0, 0, 0)
        );
        assert!(requests.open(request(1)) > third);
    }
}
