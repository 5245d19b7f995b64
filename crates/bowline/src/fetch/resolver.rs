//! Name resolution, filtered to allowed addresses.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::AddressScope;
use crate::transport::BoxFuture;

/// Resolves host names to addresses. Defaults to the system's resolver.
pub trait Resolver: Send + Sync + 'static {
    /// Returns the addresses of a host.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be resolved.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
pub(crate) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Passes on only the addresses that a request may connect to. The connection
/// uses exactly these: nothing is resolved a second time.
pub(super) struct FilteringResolver {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) scope: AddressScope,
}

/// The error for a name without allowed addresses.
#[derive(Debug)]
pub(super) struct AddressBlocked;

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, scope) = (Arc::clone(&self.resolver), self.scope);
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await?;
            let allowed: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| scope.allows(*address))
                .map(|address| SocketAddr::new(address, 0))
                .collect();
            match allowed.is_empty() {
                true => Err(AddressBlocked.into()),
                false => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

impl std::fmt::Display for AddressBlocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "a URL used for authorization resolves to a non-public address \
             (see `allow_private_networks`)",
        )
    }
}

impl std::error::Error for AddressBlocked {}
