//! Routing of methods to their handlers.
//!
//! Nothing here names a method. The builder adds the features that a server
//! offers, so a program only links the handlers of those: a server with tools
//! does not link the code that reads resources.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    catalog::Catalog,
    request::{Dispatched, OpenChannel, Request, SubscriptionChange},
};
use crate::{
    server::{
        builder::{BuildError, Registrations},
        service::Core,
    },
    transport::BoxFuture,
};

/// Handles a request of one method.
pub(crate) type MethodHandler = fn(Arc<Core>, Request, OpenChannel<'_>) -> Dispatched;

/// Ends what a feature runs beside the requests.
pub(crate) type ShutDown = fn(&Core, Instant) -> BoxFuture<'_, ()>;

/// The code a server needs to offer items of one kind.
pub(crate) struct Feature {
    /// The methods of the feature.
    pub(crate) methods: &'static [(&'static str, MethodHandler)],
    /// Starts what runs beside the requests. Called whenever the server begins to
    /// serve a client, and cheap.
    pub(crate) start: Option<fn(&Arc<Core>)>,
    /// Ends it, up to the deadline.
    pub(crate) shut_down: Option<ShutDown>,
    /// Adds the registered items to the catalog.
    pub(crate) register: fn(&mut Registrations, &mut Catalog) -> Result<(), BuildError>,
}

/// The features of a server.
#[derive(Default)]
pub(crate) struct Router {
    features: Vec<&'static Feature>,
    /// The methods of all features.
    methods: Vec<(&'static str, MethodHandler)>,
    /// The handler of methods that are not in the protocol.
    pub(crate) fallback: Option<MethodHandler>,
    /// Reports changed subscriptions to the application.
    pub(crate) on_subscriptions_changed: Option<fn(&Core, Vec<SubscriptionChange>)>,
}

impl Router {
    /// Adds a feature, unless it is already there.
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

    /// Returns the handler of a method.
    pub(crate) fn handler(&self, method: &str) -> Option<MethodHandler> {
        self.standard_handler(method).or(self.fallback)
    }

    /// Returns whether a feature has this method of the protocol.
    pub(crate) fn has_method(&self, method: &str) -> bool {
        self.standard_handler(method).is_some()
    }

    fn standard_handler(&self, method: &str) -> Option<MethodHandler> {
        let found = self.methods.iter().find(|(name, _)| *name == method);
        found.map(|(_, handler)| *handler)
    }
}
