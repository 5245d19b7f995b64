//! The services that a test calls, whatever the type of their state.

use std::{fmt, sync::Arc};

use crate::{server::Service, transport::Memory};

/// One service, or several nodes of one. A [`Service`] or a pair of services
/// converts into it.
#[derive(Clone)]
pub struct Nodes(Vec<DialFn>);

type DialFn = Arc<dyn Fn() -> Memory + Send + Sync>;

impl Nodes {
    /// Returns a transport to each node.
    pub(super) fn dial(&self) -> impl Iterator<Item = Memory> {
        self.0.iter().map(|dial| dial())
    }
}

impl<S: Send + Sync + 'static> From<Service<S>> for Nodes {
    fn from(service: Service<S>) -> Self {
        Self(vec![dial_fn(service)])
    }
}

impl<S: Send + Sync + 'static> From<&Service<S>> for Nodes {
    fn from(service: &Service<S>) -> Self {
        service.clone().into()
    }
}

/// Two nodes, which should share keys and stores.
impl<A: Send + Sync + 'static, B: Send + Sync + 'static> From<(Service<A>, Service<B>)> for Nodes {
    fn from((a, b): (Service<A>, Service<B>)) -> Self {
        Self(vec![dial_fn(a), dial_fn(b)])
    }
}

fn dial_fn<S: Send + Sync + 'static>(service: Service<S>) -> DialFn {
    Arc::new(move || service.in_memory())
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nodes({})", self.0.len())
    }
}
