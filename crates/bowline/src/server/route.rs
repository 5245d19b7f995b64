//! Which methods a server answers, and what answers them.
//!
//! Nothing here names a method. The builder puts in the parts that a server
//! offers, so that a program has in it what answers for those, and no more:
//! a server of tools is not linked with what reads resources.

use std::sync::Arc;

use super::{
    build::{BuildError, Offer},
    catalog::Catalog,
    request::{Request, Taken, Voices, WatchChange},
    service::Core,
};

/// Takes in a request.
pub(crate) type Answer = fn(Arc<Core>, Request, Voices<'_>) -> Taken;

/// What a server needs to offer things of one kind.
pub(crate) struct Part {
    /// The methods that are about them.
    pub(crate) answers: &'static [(&'static str, Answer)],
    /// Puts them on their shelves.
    pub(crate) shelve: fn(&mut Offer, &mut Catalog) -> Result<(), BuildError>,
}

/// The parts of a server.
#[derive(Default)]
pub(crate) struct Parts {
    known: Vec<&'static Part>,
    /// What all of them answer.
    answers: Vec<(&'static str, Answer)>,
    /// What answers methods that are not in the protocol.
    pub(crate) beyond: Option<Answer>,
    /// What tells the application what clients watch.
    pub(crate) tell_watched: Option<fn(&Core, Vec<WatchChange>)>,
}

impl Parts {
    /// Puts a part in, unless it is there.
    pub(crate) fn add(&mut self, part: &'static Part) {
        if !self.known.iter().any(|known| std::ptr::eq(*known, part)) {
            self.known.push(part);
            self.answers.extend_from_slice(part.answers);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Part> {
        self.known.iter().copied()
    }

    /// What answers a method.
    pub(crate) fn answer(&self, method: &str) -> Option<Answer> {
        self.of_protocol(method).or(self.beyond)
    }

    /// Whether there is a part with this method of the protocol.
    pub(crate) fn has(&self, method: &str) -> bool {
        self.of_protocol(method).is_some()
    }

    fn of_protocol(&self, method: &str) -> Option<Answer> {
        let found = self.answers.iter().find(|(name, _)| *name == method);
        found.map(|(_, answer)| *answer)
    }
}
