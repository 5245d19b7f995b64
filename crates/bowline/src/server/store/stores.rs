//! All stores of a server at once.

use std::{fmt, sync::Arc};

use super::{JournalStore, SealedStateStore, TaskStore};
#[cfg(all(feature = "auth", feature = "http-server"))]
use crate::server::auth::{RevokedTokenStore, UsedProofStore};
use crate::server::changes::ChangeBus;
#[cfg(feature = "cluster")]
use crate::server::http::NodeStore;
#[cfg(feature = "http-server")]
use crate::server::http::{EventStore, SessionStore};

/// The stores that the nodes of a server share, for
/// [`Server::stores`](crate::server::Server::stores). Cheap to clone.
///
/// A crate with stores for a database implements `From` for it.
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::server::{
///     Server,
///     store::{MemoryJournalStore, MemorySealedStateStore, MemoryTaskStore, Stores},
/// };
///
/// let stores = Stores::new(
///     Arc::new(MemoryJournalStore::new()),
///     Arc::new(MemorySealedStateStore::new()),
///     Arc::new(MemoryTaskStore::new()),
/// );
/// let server = Server::new("travel", "1.0.0").stores(stores);
/// # drop(server);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Stores {
    /// The journals of conversations.
    pub journals: Arc<dyn JournalStore>,
    /// Sealed states that are too large to be sent to clients.
    pub sealed_states: Arc<dyn SealedStateStore>,
    /// Tasks.
    pub tasks: Arc<dyn TaskStore>,
    /// The bus on which nodes tell each other what has changed.
    pub changes: Option<Arc<dyn ChangeBus>>,
    /// The nodes that are alive, for a
    /// [`Cluster`](crate::server::http::Cluster) without its own store.
    #[cfg(feature = "cluster")]
    pub nodes: Option<Arc<dyn NodeStore>>,
    /// Sessions of HTTP, unless [`HttpOptions`](crate::server::http::HttpOptions) has a
    /// store. They are sealed before they are stored.
    #[cfg(feature = "http-server")]
    pub sessions: Option<Arc<dyn SessionStore>>,
    /// Events of HTTP sessions, unless
    /// [`HttpOptions`](crate::server::http::HttpOptions) has a store. They are sealed
    /// before they are stored.
    #[cfg(feature = "http-server")]
    pub events: Option<Arc<dyn EventStore>>,
    /// Used DPoP proofs, unless the
    /// [`Protection`](crate::server::auth::Protection) has a store.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub used_proofs: Option<Arc<dyn UsedProofStore>>,
    /// Revoked tokens, unless the
    /// [`Protection`](crate::server::auth::Protection) has a store.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub revoked_tokens: Option<Arc<dyn RevokedTokenStore>>,
}

impl Stores {
    /// Creates stores for conversations and tasks. The others are optional.
    #[must_use]
    pub fn new(
        journals: Arc<dyn JournalStore>,
        sealed_states: Arc<dyn SealedStateStore>,
        tasks: Arc<dyn TaskStore>,
    ) -> Self {
        Self {
            journals,
            sealed_states,
            tasks,
            changes: None,
            #[cfg(feature = "cluster")]
            nodes: None,
            #[cfg(feature = "http-server")]
            sessions: None,
            #[cfg(feature = "http-server")]
            events: None,
            #[cfg(all(feature = "auth", feature = "http-server"))]
            used_proofs: None,
            #[cfg(all(feature = "auth", feature = "http-server"))]
            revoked_tokens: None,
        }
    }

    /// Returns whether their contents outlive the process.
    pub(crate) fn are_shared(&self) -> bool {
        self.journals.instance_id().is_none()
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores")
            .field("shared", &self.are_shared())
            .finish_non_exhaustive()
    }
}
