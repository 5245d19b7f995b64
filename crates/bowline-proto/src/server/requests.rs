//! The client's requests, while they are open.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Incoming, Telling};
use crate::{
    Instant,
    jsonrpc::RequestId,
    model::{LogLevel, ProgressToken},
    revision::Rules,
};

/// The client's requests that the host has yet to answer.
///
/// Each has a place, and its name says which, so that nothing has to be searched
/// when it is answered.
#[derive(Debug, Default)]
pub(super) struct Requests {
    places: Vec<Option<(Incoming, Open)>>,
    /// The places that are empty.
    empty: Vec<usize>,
    by_id: BTreeMap<RequestId, Incoming>,
    /// How large they are together.
    bytes: usize,
    last: u64,
}

/// One of them: what the machine needs to know until it is answered.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: RequestId,
    pub(super) method: Cow<'static, str>,
    /// How large its parameters are, which the host holds.
    pub(super) size: usize,
    pub(super) rules: &'static Rules,
    pub(super) progress_token: Option<ProgressToken>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) purpose: Purpose,
    pub(super) started: Instant,
    /// What the client was told about it.
    pub(super) telling: Telling,
}

/// So many places are kept for the next requests when all are answered.
const KEPT: usize = 8;

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
        let place = self.empty.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        let incoming = Incoming {
            number: self.last,
            place,
        };
        self.bytes += request.size;
        self.by_id.insert(request.id.clone(), incoming);
        self.places[place] = Some((incoming, request));
        incoming
    }

    pub(super) fn close(&mut self, request: Incoming) -> Option<Open> {
        let place = self.places.get_mut(request.place)?;
        let (_, open) = place.take_if(|(name, _)| *name == request)?;
        self.by_id.remove(&open.id);
        self.bytes -= open.size;
        self.empty.push(request.place);
        if self.by_id.is_empty() && self.places.len() > KEPT {
            // There were many, and may not be again.
            self.places = Vec::new();
            self.empty = Vec::new();
        }
        Some(open)
    }

    /// Takes out all of them, the oldest first.
    pub(super) fn close_all(&mut self) -> Vec<(Incoming, Open)> {
        let last = self.last;
        let all = std::mem::take(self);
        self.last = last;
        let mut all: Vec<_> = all.places.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(request, _)| *request);
        all
    }

    pub(super) fn get(&self, request: Incoming) -> Option<&Open> {
        let place = self.places.get(request.place)?;
        let (_, open) = place.as_ref().filter(|(name, _)| *name == request)?;
        Some(open)
    }

    pub(super) fn get_mut(&mut self, request: Incoming) -> Option<&mut Open> {
        let place = self.places.get_mut(request.place)?;
        let (_, open) = place.as_mut().filter(|(name, _)| *name == request)?;
        Some(open)
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<Incoming> {
        self.by_id.get(id).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.empty.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

    fn request(id: u64) -> Open {
        Open {
            id: id.into(),
            method: "tools/call".into(),
            size: 1,
            rules: Revision::LATEST.rules(),
            progress_token: None,
            log_level: None,
            purpose: Purpose::Plain,
            started: Instant::ORIGIN,
            telling: Telling::default(),
        }
    }

    #[test]
    fn a_place_is_used_again_and_a_name_is_not() {
        let mut requests = Requests::default();
        let first = requests.open(request(1));
        assert_eq!(requests.find(&1_u64.into()), Some(first));
        assert!(requests.close(first).is_some());
        let second = requests.open(request(1));
        assert_eq!((first.place, requests.len()), (second.place, 1));
        assert!(requests.close(first).is_none(), "it was closed before");
        assert!(requests.get(first).is_none() && requests.get_mut(first).is_none());
        assert!(requests.get(second).is_some());
        assert_eq!((requests.bytes(), requests.ids()), (1, 1));
    }

    #[test]
    fn what_many_needed_is_given_back() {
        let mut requests = Requests::default();
        let many: Vec<_> = (0..100).map(|id| requests.open(request(id))).collect();
        assert_eq!(requests.len(), 100);
        for it in &many {
            assert!(requests.close(*it).is_some());
        }
        assert_eq!(
            (requests.len(), requests.ids(), requests.bytes()),
            (0, 0, 0)
        );
        assert_eq!(requests.places.capacity(), 0);
        assert!(requests.open(request(1)) > many[99], "no name comes again");
    }

    #[test]
    fn all_are_closed_in_their_order() {
        let mut requests = Requests::default();
        let first = requests.open(request(1));
        let second = requests.open(request(2));
        requests.close(first);
        let third = requests.open(request(3));
        let closed: Vec<_> = requests.close_all().into_iter().map(|it| it.0).collect();
        assert_eq!(closed, [second, third]);
        assert_eq!(
            (requests.len(), requests.ids(), requests.bytes()),
            (0, 0, 0)
        );
        assert!(requests.open(request(1)) > third);
    }
}
