//! What the host may believe about its subscriptions.

use std::collections::{BTreeMap, BTreeSet};

use bowline_proto::{
    client::{Failure, Outcome},
    revision::Era,
};

use super::sim_oracle::Wish;

/// The host's view, from nothing but what it was told.
#[derive(Default)]
pub(crate) struct Beliefs {
    held: BTreeMap<String, Belief>,
    /// Wishes under way, by resource; and whether there were two at once, so
    /// that their order is anybody's guess.
    under_way: BTreeMap<String, (u32, bool)>,
    /// Resources that must be heard of again after a reconnection.
    pub(crate) restoring: BTreeSet<String>,
    pub(crate) era: Option<Era>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belief {
    Subscribed,
    NotSubscribed,
    /// Nobody can know: a request was lost, or its answer was.
    Unknown,
}

impl Beliefs {
    pub(crate) fn begin(&mut self, wish: &Wish) {
        if let Wish::Subscribe(uri) | Wish::Unsubscribe(uri) = wish {
            let (count, tangled) = self.under_way.entry(uri.clone()).or_default();
            *count += 1;
            *tangled |= *count > 1;
        }
    }

    pub(crate) fn end(&mut self, wish: &Wish, outcome: &Outcome) {
        let (uri, wanted) = match wish {
            Wish::Subscribe(uri) => (uri, Belief::Subscribed),
            Wish::Unsubscribe(uri) => (uri, Belief::NotSubscribed),
            Wish::Request(_) | Wish::Level => return,
        };
        let before = self.held.get(uri).copied().unwrap_or(Belief::NotSubscribed);
        let mut belief = match outcome {
            Outcome::Result(_) => wanted,
            _ if before == wanted || without_effect(outcome) => before,
            _ if self.era == Some(Era::Stateless) && wanted == Belief::Subscribed => before,
            _ => Belief::Unknown,
        };
        if let Some((count, tangled)) = self.under_way.get_mut(uri) {
            *count -= 1;
            if *tangled {
                belief = Belief::Unknown;
            }
            *tangled &= *count > 0;
        }
        if belief != Belief::Subscribed || matches!(outcome, Outcome::Result(_)) {
            self.restoring.remove(uri);
        }
        self.held.insert(uri.clone(), belief);
    }

    /// A session is open: what was in force must be restored, or reported lost.
    pub(crate) fn ready(&mut self, session: u64) {
        if session > 1 {
            let held = self.held.iter();
            let held = held.filter(|(_, belief)| **belief == Belief::Subscribed);
            self.restoring = held.map(|(uri, _)| uri.clone()).collect();
        }
    }

    pub(crate) fn resubscribed(&mut self, uris: &[Box<str>]) {
        for uri in uris {
            self.restoring.remove(&**uri);
        }
    }

    pub(crate) fn lost(&mut self, uri: &str, refused: bool) {
        let sure = refused || self.era == Some(Era::Stateless);
        let belief = if sure {
            Belief::NotSubscribed
        } else {
            Belief::Unknown
        };
        self.restoring.remove(uri);
        self.held.insert(uri.to_owned(), belief);
    }

    /// The host and the server must mean the same.
    pub(crate) fn agree_with(&self, in_force: &BTreeSet<String>) {
        for (uri, belief) in &self.held {
            match belief {
                Belief::Subscribed => {
                    assert!(
                        in_force.contains(uri),
                        "{uri} is not in force: {in_force:?}"
                    );
                }
                Belief::NotSubscribed => {
                    assert!(
                        !in_force.contains(uri),
                        "{uri} is still in force: {in_force:?}"
                    );
                }
                Belief::Unknown => {}
            }
        }
    }
}

/// Whether the request cannot have reached the server.
fn without_effect(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Failed(
            Failure::NotReady { .. }
                | Failure::Shutdown
                | Failure::Busy { .. }
                | Failure::CapabilityNotSupported { .. }
        )
    )
}
