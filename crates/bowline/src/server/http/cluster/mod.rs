//! Several nodes behind one address, for sessions of revisions up to 2025-11-25.
//!
//! A session of these revisions lives in one process. A [`Cluster`] lets every node
//! accept every request: one for a session of another node is forwarded there, and
//! the response is passed on as it arrives. If that node is gone, the session is taken
//! over. Requests of revision 2026-07-28 have no session and never leave their node.
//!
//! - `node_store` has the nodes that are alive, each with a lease.
//! - `membership` is the lease of this node.
//! - `forwarder` sends a request to another node; `forwarded_request` is how that node
//!   knows who sent it, and `forwarded_body` the response on its way back.
//! - `ownership` decides who answers a request for a session.

mod forwarded_body;
mod forwarded_request;
mod forwarder;
mod membership;
mod node_store;
mod ownership;

use std::{fmt, sync::Arc, time::Duration};

pub use node_store::{MemoryNodeStore, NodeStore};

pub(super) use forwarded_body::ForwardedBody;
use forwarded_request::ForwardSeal;
pub(super) use forwarded_request::{ForwardedRequest, admit_forwarded};
use forwarder::Forwarder;
use membership::Membership;
pub(super) use ownership::RemoteRequest;

use super::HttpOptions;
use crate::server::dispatch::request::RequestHandler;

/// How long a node may be silent before its sessions are taken over, by default.
const DEFAULT_LEASE: Duration = Duration::from_secs(6);

/// The nodes that share the sessions of a server, for
/// [`HttpOptions::cluster`](super::HttpOptions::cluster).
///
/// All nodes need the same [`SessionStore`](super::SessionStore) and the same secret
/// ([`Server::seal_keys`](crate::server::Server::seal_keys)), both of which
/// [`Server::stores`](crate::server::Server::stores) makes sure of. Without them there is
/// nothing to forward by, and the cluster has no effect.
///
/// A forwarded request carries who sent it, sealed with the secret, instead of its
/// token. Its contents are as safe as the network between the nodes: use `https`
/// addresses if that is not trusted.
///
/// ```
/// use bowline::server::http::{Cluster, HttpOptions};
///
/// // The other nodes are found in the server's stores.
/// let options = HttpOptions {
///     cluster: Some(Cluster::new("http://10.0.0.5:8000/mcp")),
///     ..HttpOptions::default()
/// };
/// ```
#[derive(Clone)]
pub struct Cluster {
    nodes: Option<Arc<dyn NodeStore>>,
    address: Arc<str>,
    lease: Duration,
}

impl Cluster {
    /// Creates the options of a node that other nodes reach at this URL, path included.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self {
            nodes: None,
            address: address.into(),
            lease: DEFAULT_LEASE,
        }
    }

    /// Sets the store of nodes. By default it is that of
    /// [`Server::stores`](crate::server::Server::stores).
    #[must_use]
    pub fn node_store(mut self, nodes: Arc<dyn NodeStore>) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// Sets how long a node may be silent before its sessions are taken over: six
    /// seconds by default. It is renewed at a third of that.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        // Less would be a load on the store and take sessions from nodes that are slow.
        self.lease = lease.clamp(Duration::from_millis(100), Duration::from_secs(3600));
        self
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("address", &self.address)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// This node of a cluster.
pub(super) struct ClusterNode {
    membership: Arc<Membership>,
    forwarder: Forwarder,
    seal: ForwardSeal,
}

impl ClusterNode {
    /// Returns the node, or `None` if there is no cluster, or its nodes share no session
    /// store, node store or secret.
    pub(super) fn new(
        options: &HttpOptions,
        node: &Arc<str>,
        handler: &dyn RequestHandler,
    ) -> Option<Self> {
        let cluster = options.cluster.as_ref()?;
        options.session_store.as_ref()?;
        let nodes = cluster.nodes.clone();
        let nodes = nodes.or_else(|| handler.stores()?.nodes.clone())?;
        let server_name = &handler.config().server_info.name;
        let seal = ForwardSeal::new(handler.seal_keys(), server_name)?;
        Some(Self {
            membership: Arc::new(Membership::new(cluster, nodes, Arc::clone(node))),
            forwarder: Forwarder::new(&cluster.address),
            seal,
        })
    }

    /// Gives up the lease: the sessions of this node have ended.
    pub(super) async fn leave(&self) {
        self.membership.leave().await;
    }
}
