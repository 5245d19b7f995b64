//! Names, resolved to addresses that may be dialled.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Reach;
use crate::transport::BoxFuture;

/// Turns names into addresses. The system does, unless told otherwise.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a host.
    ///
    /// # Errors
    ///
    /// Where it has none.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's own.
pub(in crate::auth) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Lets through only the addresses that a request may go to. Those are the ones
/// that are dialled: nothing is resolved a second time.
pub(super) struct Filter {
    pub(super) names: Arc<dyn Resolver>,
    pub(super) reach: Reach,
}

/// What a name is answered with that leads nowhere.
#[derive(Debug)]
pub(super) struct OutOfReach;

impl Resolve for Filter {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, reach) = (Arc::clone(&self.names), self.reach);
        Box::pin(async move {
            let found = names.resolve(name.as_str()).await?;
            let within: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| reach.covers(*address))
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            match within.is_empty() {
                true => Err(OutOfReach.into()),
                false => Ok(Box::new(within.into_iter()) as Addrs),
            }
        })
    }
}

impl std::fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a place on the way to authorization is not public")
    }
}

impl std::error::Error for OutOfReach {}
