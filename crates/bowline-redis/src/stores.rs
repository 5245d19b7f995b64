//! All stores of one connection.

use std::{fmt, sync::Arc};

use bowline::server::store::Stores;

use crate::{
    RedisChangeBus, RedisEventStore, RedisJournalStore, RedisNodeStore, RedisRevokedTokenStore,
    RedisSealedStateStore, RedisSessionStore, RedisTaskStore, RedisUsedProofStore, StoreLimits,
    connection::Connection, notices::Notices,
};

/// All stores of a server, in one Redis or Valkey. Cheap to clone; clones share their
/// connection.
#[derive(Clone)]
pub struct RedisStores {
    journals: Arc<RedisJournalStore>,
    sealed_states: Arc<RedisSealedStateStore>,
    tasks: Arc<RedisTaskStore>,
    sessions: Arc<RedisSessionStore>,
    events: Arc<RedisEventStore>,
    used_proofs: Arc<RedisUsedProofStore>,
    revoked_tokens: Arc<RedisRevokedTokenStore>,
    nodes: Arc<RedisNodeStore>,
    changes: Arc<RedisChangeBus>,
    warnings: Arc<[&'static str]>,
}

impl RedisStores {
    pub(crate) fn new(
        connection: &Arc<Connection>,
        limits: &StoreLimits,
        warnings: Arc<[&'static str]>,
    ) -> Self {
        let notices = Arc::new(Notices::new(Arc::clone(connection)));
        let shared = || Arc::clone(connection);
        Self {
            journals: Arc::new(RedisJournalStore {
                connection: shared(),
                notices: Arc::clone(&notices),
                limit: limits.journals,
            }),
            sealed_states: Arc::new(RedisSealedStateStore {
                connection: shared(),
                limit: limits.sealed_states,
            }),
            tasks: Arc::new(RedisTaskStore {
                connection: shared(),
                notices,
                limit: limits.tasks,
            }),
            sessions: Arc::new(RedisSessionStore {
                connection: shared(),
                limit: limits.sessions,
            }),
            events: Arc::new(RedisEventStore {
                connection: shared(),
                max_bytes: limits.max_event_bytes,
                max_events_per_session: limits.max_events_per_session,
                max_bytes_per_session: limits.max_event_bytes_per_session,
            }),
            used_proofs: Arc::new(RedisUsedProofStore {
                connection: shared(),
                max_proofs: limits.max_used_proofs,
            }),
            revoked_tokens: Arc::new(RedisRevokedTokenStore {
                connection: shared(),
                max_tokens: limits.max_revoked_tokens,
            }),
            nodes: Arc::new(RedisNodeStore {
                connection: shared(),
            }),
            changes: Arc::new(RedisChangeBus {
                connection: shared(),
            }),
            warnings,
        }
    }

    /// Returns the guarantees that the settings of this Redis do not give. With the
    /// feature `tracing`, these are also events.
    #[must_use]
    pub fn warnings(&self) -> &[&'static str] {
        &self.warnings
    }

    /// Returns the store of journals.
    #[must_use]
    pub fn journals(&self) -> Arc<RedisJournalStore> {
        Arc::clone(&self.journals)
    }

    /// Returns the store of sealed states.
    #[must_use]
    pub fn sealed_states(&self) -> Arc<RedisSealedStateStore> {
        Arc::clone(&self.sealed_states)
    }

    /// Returns the store of tasks.
    #[must_use]
    pub fn tasks(&self) -> Arc<RedisTaskStore> {
        Arc::clone(&self.tasks)
    }

    /// Returns the store of sessions. It stores what it is given: with
    /// [`Server::stores`](bowline::server::Server::stores) that is sealed.
    #[must_use]
    pub fn sessions(&self) -> Arc<RedisSessionStore> {
        Arc::clone(&self.sessions)
    }

    /// Returns the store of events. It stores what it is given: with
    /// [`Server::stores`](bowline::server::Server::stores) that is sealed.
    #[must_use]
    pub fn events(&self) -> Arc<RedisEventStore> {
        Arc::clone(&self.events)
    }

    /// Returns the store of used DPoP proofs.
    #[must_use]
    pub fn used_proofs(&self) -> Arc<RedisUsedProofStore> {
        Arc::clone(&self.used_proofs)
    }

    /// Returns the store of revoked tokens.
    #[must_use]
    pub fn revoked_tokens(&self) -> Arc<RedisRevokedTokenStore> {
        Arc::clone(&self.revoked_tokens)
    }
}

impl RedisStores {
    /// Returns the store of nodes.
    #[must_use]
    pub fn nodes(&self) -> Arc<RedisNodeStore> {
        Arc::clone(&self.nodes)
    }

    /// Returns the bus of changes.
    #[must_use]
    pub fn changes(&self) -> Arc<RedisChangeBus> {
        Arc::clone(&self.changes)
    }
}

impl From<RedisStores> for Stores {
    fn from(redis: RedisStores) -> Self {
        let mut stores = Self::new(redis.journals, redis.sealed_states, redis.tasks);
        stores.sessions = Some(redis.sessions);
        stores.events = Some(redis.events);
        stores.used_proofs = Some(redis.used_proofs);
        stores.revoked_tokens = Some(redis.revoked_tokens);
        stores.nodes = Some(redis.nodes);
        stores.changes = Some(redis.changes);
        stores
    }
}

impl fmt::Debug for RedisStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStores")
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
