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
#[cfg(feature = "tracing")]
use crate::server::tracing_events::emit_cluster_ignored;

/// The bounds of [`Cluster::lease_timeout`].
const MIN_LEASE_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_LEASE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a node may be silent before its sessions are taken over, by default.
const DEFAULT_LEASE_TIMEOUT: Duration = Duration::from_secs(6);

/// Makes this process a node of a cluster: it accepts requests for the sessions of all
/// nodes, and other nodes forward requests for its sessions to it. Set it as
/// [`HttpOptions::cluster`](super::HttpOptions::cluster).
///
/// The nodes must share three things:
///
/// - a secret: see [`Server::seal_keys`](crate::server::Server::seal_keys);
/// - a [`NodeStore`];
/// - a [`SessionStore`](super::SessionStore).
///
/// [`Server::stores`](crate::server::Server::stores) sets both stores at once; the crate
/// `bowline-redis` provides them. If one of the three is missing, the cluster is ignored. With the feature `tracing`, a
/// warning event says what is missing.
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
    lease_timeout: Duration,
}

impl Cluster {
    /// Creates the options of a node that other nodes reach at this URL, path included.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self {
            nodes: None,
            address: address.into(),
            lease_timeout: DEFAULT_LEASE_TIMEOUT,
        }
    }

    /// Sets the store of nodes. By default it is that of
    /// [`Server::stores`](crate::server::Server::stores).
    #[must_use]
    pub fn node_store(mut self, nodes: impl NodeStore) -> Self {
        self.nodes = Some(Arc::new(nodes));
        self
    }

    /// Sets how long a node may be silent before its sessions are taken over: six
    /// seconds by default. The node renews its lease every third of this period. Values
    /// below 100 ms are raised to it, and values above one hour are reduced to that.
    #[must_use]
    pub fn lease_timeout(mut self, timeout: Duration) -> Self {
        // Less would be a load on the store and take sessions from nodes that are slow.
        self.lease_timeout = timeout.clamp(MIN_LEASE_TIMEOUT, MAX_LEASE_TIMEOUT);
        self
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("address", &self.address)
            .field("lease_timeout", &self.lease_timeout)
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
    /// Returns the node, or `None` if there is no cluster, or something is missing that
    /// its nodes must share.
    pub(super) fn new(
        options: &HttpOptions,
        node: &Arc<str>,
        handler: &dyn RequestHandler,
    ) -> Option<Self> {
        let cluster = options.cluster.as_ref()?;
        match Self::join(cluster, options, node, handler) {
            Ok(node) => Some(node),
            Err(missing) => {
                emit_cluster_ignored(&handler.config().server_info.name, missing);
                None
            }
        }
    }

    /// Returns the node, or what is missing.
    fn join(
        cluster: &Cluster,
        options: &HttpOptions,
        node: &Arc<str>,
        handler: &dyn RequestHandler,
    ) -> Result<Self, &'static str> {
        let server_name = &handler.config().server_info.name;
        let seal = ForwardSeal::new(handler.seal_keys(), server_name).ok_or("secret")?;
        let nodes = cluster.nodes.clone();
        let nodes = nodes.or_else(|| handler.stores()?.nodes.clone());
        let nodes = nodes.ok_or("node store")?;
        if options.session_store.is_none() {
            return Err("session store");
        }
        Ok(Self {
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

#[cfg(not(feature = "tracing"))]
fn emit_cluster_ignored(_server: &str, _missing: &'static str) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{
        Server,
        seal::SealKeys,
        store::{MemoryJournalStore, MemorySealedStateStore},
    };

    fn cluster() -> Cluster {
        Cluster::new("http://127.0.0.1:8000/mcp")
    }

    /// Returns what a node of this server lacks, which has no session store.
    fn missing(server: Server, cluster: &Cluster) -> Option<&'static str> {
        let service = server.build().expect("the server is sound");
        let options = HttpOptions::default();
        ClusterNode::join(cluster, &options, &"node".into(), &*service.core).err()
    }

    #[test]
    fn nodes_must_share_a_secret_and_two_stores() {
        let server = || Server::new("acme", "1");
        let with_secret = || {
            let keys = SealKeys::from_secret(&[7; 32]).expect("it is long enough");
            server()
                .seal_keys(keys)
                .journal_store(MemoryJournalStore::new())
                .sealed_state_store(MemorySealedStateStore::new())
        };
        let with_nodes = cluster().node_store(MemoryNodeStore::default());
        assert_eq!(missing(server(), &with_nodes), Some("secret"));
        assert_eq!(missing(with_secret(), &cluster()), Some("node store"));
        assert_eq!(missing(with_secret(), &with_nodes), Some("session store"));
    }

    #[cfg(feature = "tracing")]
    #[tokio::test]
    async fn a_cluster_that_is_ignored_is_reported_as_the_guide_has_it() {
        use crate::tracing_events::capture::assert_documented;

        let service = Server::new("acme", "1").build();
        let service = service.expect("the server is sound");
        assert_documented("## Events of clusters", &["cluster.ignored"], || {
            drop(service.http(HttpOptions {
                cluster: Some(cluster()),
                ..HttpOptions::default()
            }));
        });
    }
}
