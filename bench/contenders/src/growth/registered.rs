//! A registry whose servers are in the same process.

use std::ops::Range;

use bowline::{Client, registry::Registry, server::Service};

use super::ours;
use crate::Failure;

/// A registry, and the service that all of its servers are of.
pub(crate) struct Registered {
    pub(crate) registry: Registry,
    service: Service,
}

impl Registered {
    /// Without connections.
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self {
            registry: Registry::new(),
            service: ours::service(1)?,
        })
    }

    /// Adds servers with these numbers, and connects to each.
    pub(crate) async fn open(&self, numbers: Range<usize>) -> Result<(), Failure> {
        for number in numbers {
            let service = self.service.clone();
            let start = move |_: &str| Client::builder().connect_in_background(service.in_memory());
            let name = server(number);
            let added = self.registry.add(&name, start);
            added.map_err(|error| error.to_string())?;
            let started = self.registry.start(&name).await;
            started.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// The name of the tool of a server.
pub(crate) fn tool(number: usize) -> String {
    format!("{}__{}", server(number), ours::name(0))
}

fn server(number: usize) -> String {
    format!("server-{number}")
}
