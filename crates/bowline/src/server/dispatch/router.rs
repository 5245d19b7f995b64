//! Which methods a server answers, and what answers them.
//!
//! Nothing here names a method. The builder puts in the parts that a server
//! offers, so that a program has in it what answers for those, and no more:
//! a server of tools is not linked with what reads resources.

use std::sync::Arc;

use super::{
    catalog::Catalog,
    request::{Dispatched, OpenChannel, Request, SubscriptionChange},
};
use crate::server::{
    builder::{BuildError, Registrations},
    service::Core,
};

/// Takes in a request.
pub(crate) type MethodHandler = fn(Arc<Core>, Request, OpenChannel<'_>) -> Dispatched;

/// What a server needs to offer things of one kind.
pub(crate) struct Feature {
    /// The methods that are about them.
    pub(crate) methods: &'static [(&'static str, MethodHandler)],
    /// Puts them on their shelves.
    pub(crate) register: fn(&mut Registrations, &mut Catalog) -> Result<(), BuildError>,
}

/// The parts of a server.
#[derive(Default)]
pub(crate) struct Router {
    features: Vec<&'static Feature>,
    /// What all of them answer.
    methods: Vec<(&'static str, MethodHandler)>,
    /// What answers methods that are not in the protocol.
    pub(crate) fallback: Option<MethodHandler>,
    /// What tells the application what clients watch.
    pub(crate) on_subscriptions_changed: Option<fn(&Core, Vec<SubscriptionChange>)>,
}

impl Router {
    /// Puts a part in, unless it is there.
    pub(crate) fn add(&mut self, feature: &'static Feature) {
        if !self
            .features
            .iter()
            .any(|known| std::ptr::eq(*known, feature))
        {
            self.features.push(feature);
            self.methods.extend_from_slice(feature.methods);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Feature> {
        self.features.iter().copied()
    }

    /// What answers a method.
    pub(crate) fn handler(&self, method: &str) -> Option<MethodHandler> {
        self.standard_handler(method).or(self.fallback)
    }

    /// Whether there is a part with this method of the protocol.
    pub(crate) fn has_method(&self, method: &str) -> bool {
        self.standard_handler(method).is_some()
    }

    fn standard_handler(&self, method: &str) -> Option<MethodHandler> {
        let found = self.methods.iter().find(|(name, _)| *name == method);
        found.map(|(_, handler)| *handler)
    }
}
