//! Description and settings of a server.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::Server;
use crate::{
    proto::{
        model::{CacheScope, Icon, Implementation},
        revision::Revision,
        server::{CacheHint, Config},
    },
    server::{
        Observation, TaskOptions,
        changes::{ChangeBus, RELAY_FEATURE},
        seal::SealKeys,
        store::{JournalStore, SealedStateStore, Stores, TaskStore},
    },
};

/// A result that clients may cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheTarget {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The list of resource templates.
    Templates,
    /// The contents of resources, unless the resource has its own setting.
    Contents,
}

/// Description.
impl<S> Server<S> {
    /// Sets the instructions, which tell the model how to use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.config.instructions = Some(instructions.into());
        self
    }

    /// Sets the display name.
    pub fn title(self, title: impl Into<String>) -> Self {
        let title = title.into();
        self.update_server_info(|identity| identity.title = Some(title))
    }

    /// Sets the description.
    pub fn description(self, description: impl Into<String>) -> Self {
        let description = description.into();
        self.update_server_info(|identity| identity.description = Some(description))
    }

    /// Sets the URL of the server's website.
    pub fn website_url(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.update_server_info(|identity| identity.website_url = Some(url))
    }

    /// Adds an icon.
    pub fn icon(self, icon: Icon) -> Self {
        self.update_server_info(|identity| identity.icons.push(icon))
    }

    /// Sets the supported revisions. The default is all.
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    fn update_server_info(mut self, change: impl FnOnce(&mut Implementation)) -> Self {
        change(Arc::make_mut(&mut self.config.server_info));
        self
    }
}

/// Settings.
impl<S> Server<S> {
    /// Sets the number of items on one page of a list. The default is 100.
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size;
        self
    }

    /// Sets how long clients may cache lists and the result of `server/discover`,
    /// and who may share them. By default nothing is cached. This does not apply to
    /// the contents of resources; see [`cache_hint_for`](Self::cache_hint_for).
    pub fn cache_hint(mut self, ttl: Duration, scope: CacheScope) -> Self {
        let hint = CacheHint { ttl, scope };
        self.config.discover_cache = hint.clone();
        let lists = [
            CacheTarget::Tools,
            CacheTarget::Prompts,
            CacheTarget::Resources,
            CacheTarget::Templates,
        ];
        for list in lists {
            *self.cache_hint_mut(list) = hint.clone();
        }
        self
    }

    /// Sets how long clients may cache one kind of result, and who may share
    /// it.
    ///
    /// A list that hides items from some clients is never shared.
    pub fn cache_hint_for(mut self, target: CacheTarget, ttl: Duration, scope: CacheScope) -> Self {
        *self.cache_hint_mut(target) = CacheHint { ttl, scope };
        self
    }

    fn cache_hint_mut(&mut self, target: CacheTarget) -> &mut CacheHint {
        let hints = &mut self.cache_hints;
        match target {
            CacheTarget::Tools => &mut hints.tools,
            CacheTarget::Prompts => &mut hints.prompts,
            CacheTarget::Resources => &mut hints.resources,
            CacheTarget::Templates => &mut hints.templates,
            CacheTarget::Contents => &mut hints.contents,
        }
    }

    /// Sets the maximum number of calls that run at once on one connection, or in
    /// one HTTP session. The default is 64. Further calls wait. Over HTTP in
    /// revision 2026-07-28, which has no sessions, `HttpOptions` limits the requests
    /// of each client instead.
    pub fn max_concurrent_calls(mut self, calls: usize) -> Self {
        self.serve_options.max_concurrent_calls = calls.max(1);
        self
    }

    /// Sets the total time that calls and steps in progress have to finish after the
    /// client has closed its end of the connection. The default is five seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.serve_options.shutdown_timeout = timeout;
        self
    }

    /// Sets how long a running step may take to finish after its client has
    /// disconnected or cancelled the call. The default is one minute. After that
    /// the step is cancelled. At most 128 such steps run for one caller and 1,024
    /// in total; further ones are cancelled immediately.
    pub fn abandoned_step_timeout(mut self, timeout: Duration) -> Self {
        self.abandoned_step_timeout = timeout;
        self
    }

    /// Sets an observer, which is called with each telemetry event, in order,
    /// shortly after it happened. It is called inline and must return quickly: if
    /// it is too slow, the server drops events and reports how many. It may use
    /// the [`Service`](crate::server::Service).
    pub fn observer(mut self, observer: impl Fn(&Observation) + Send + Sync + 'static) -> Self {
        self.config.telemetry = true;
        self.serve_options.observer = Some(Arc::new(observer));
        self
    }

    /// Changes protocol settings that have no method here, such as limits on
    /// frames, requests and subscriptions.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Sets the clock, for tests that depend on time.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

/// Several nodes.
///
/// A *node* is a process that runs the server. Several nodes can share the work if they
/// have the same secret and the same stores. What conversations, tasks and sessions leave
/// in a store, or with a client, is *sealed*: encrypted and authenticated.
impl<S> Server<S> {
    /// Sets the keys that seal what leaves the process: conversations, tasks, changes,
    /// the senders of forwarded requests, sessions and their events. The default is a
    /// random key, which only this process has: no other node, and no process after a
    /// restart, can resume its conversations or tasks. With a random key, changes,
    /// sessions and events are not sealed, and no requests are forwarded.
    ///
    /// With [`SealKeys::from_secret`], [`journal_store`](Self::journal_store) and
    /// [`sealed_state_store`](Self::sealed_state_store) must be set too, and
    /// [`task_store`](Self::task_store) if calls of a tool may become tasks; otherwise
    /// [`build`](Self::build) returns an error.
    pub fn seal_keys(mut self, keys: SealKeys) -> Self {
        self.seal_keys = Some(keys);
        self
    }

    /// Sets all stores at once, for a server with several nodes: those of conversations
    /// and tasks, the bus of changes and, over HTTP, those of sessions, events, nodes,
    /// used DPoP proofs and revoked tokens, unless `HttpOptions`, `Cluster` or
    /// `Protection` have others. The crate `bowline-redis` has such stores.
    ///
    /// Conversations, tasks, sessions, events and changes are sealed, so all nodes need
    /// the same secret: set [`seal_keys`](Self::seal_keys) too, or
    /// [`build`](Self::build) returns an error, unless the stores are in memory.
    pub fn stores(mut self, stores: impl Into<Stores>) -> Self {
        let stores = stores.into();
        self.journal_store = Some(Arc::clone(&stores.journals));
        self.sealed_state_store = Some(Arc::clone(&stores.sealed_states));
        self.task_store = Some(Arc::clone(&stores.tasks));
        if let Some(changes) = &stores.changes {
            self = self.change_bus(Arc::clone(changes));
        }
        self.stores = Some(stores);
        self
    }

    /// Sets the bus on which nodes tell each other what has changed, so a change
    /// reported on one node reaches the clients of every node. There is none by default.
    pub fn change_bus(mut self, bus: impl ChangeBus) -> Self {
        self.change_bus = Some(Arc::new(bus));
        self.registrations.router.add(&RELAY_FEATURE);
        self
    }

    /// Sets how long a node may be silent before another node considers it dead
    /// and takes over its conversation or task. The default is six seconds.
    /// Values below 100 ms are raised to it.
    ///
    /// A node that runs a round holds a lease on the conversation, and renews it
    /// every third of this period. If it does not renew the lease in time, for
    /// example because a step blocks the thread, another node may take over. Then:
    ///
    /// - Each further step runs on one of the nodes only: the one that records its start
    ///   first. The other node stops.
    /// - A step that was running fails with
    ///   [`ErrorKind::OutcomeUnknown`](crate::server::ErrorKind::OutcomeUnknown)
    ///   on the second node.
    ///
    /// So a step must not block its thread for this long. Run blocking work with
    /// `tokio::task::spawn_blocking`.
    pub fn lease_timeout(mut self, timeout: Duration) -> Self {
        self.lease_timeout = timeout.max(Duration::from_millis(100));
        self
    }
}

/// Conversations in revision 2026-07-28.
///
/// There, a conversation consists of several requests of the client, called
/// rounds, and each of them may reach another node. Between two rounds the state of the
/// conversation is sealed, sent to the client with the question, and sent back by the
/// client with the answer.
impl<S> Server<S> {
    /// Sets the store of journals. A journal records what happened in a
    /// conversation, so no step runs twice. All nodes must share the store. The
    /// default is in memory.
    pub fn journal_store(mut self, store: impl JournalStore) -> Self {
        self.journal_store = Some(Arc::new(store));
        self
    }

    /// Sets the store of sealed states that are too large to be sent to the
    /// client; see [`max_sealed_state_bytes`](Self::max_sealed_state_bytes). All
    /// nodes must share the store. The default is in memory.
    pub fn sealed_state_store(mut self, store: impl SealedStateStore) -> Self {
        self.sealed_state_store = Some(Arc::new(store));
        self
    }

    /// Sets how long a conversation may last in revision 2026-07-28, for all tools.
    /// The default is 30 minutes. A task may take as long as it is kept
    /// ([`TaskOptions::ttl`]). To limit the calls of one tool, in every
    /// revision, use [`CallLimits::timeout`](crate::server::CallLimits::timeout).
    pub fn conversation_timeout(mut self, timeout: Duration) -> Self {
        self.conversation_timeout = timeout;
        self
    }

    /// Sets the maximum size of a sealed state that is sent to the client. The
    /// default is 32 KiB. A larger one is kept in the
    /// [`sealed_state_store`](Self::sealed_state_store), and the client receives a
    /// reference to it.
    pub fn max_sealed_state_bytes(mut self, bytes: usize) -> Self {
        self.max_sealed_state_bytes = bytes;
        self
    }
}

/// Tasks.
///
/// Calls of tools with [`ToolBuilder::task`](crate::server::tool::ToolBuilder::task) may
/// become tasks, in revisions 2025-11-25 and 2026-07-28. A task is a conversation whose
/// state the server keeps itself, so it also uses the
/// [`journal_store`](Self::journal_store), the
/// [`sealed_state_store`](Self::sealed_state_store) and the
/// [`lease_timeout`](Self::lease_timeout).
impl<S> Server<S> {
    /// Sets the store of tasks. All nodes must share the store. The default is in
    /// memory.
    pub fn task_store(mut self, store: impl TaskStore) -> Self {
        self.task_store = Some(Arc::new(store));
        self
    }

    /// Sets how many tasks there may be, and how long they are kept.
    pub fn task_options(mut self, options: TaskOptions) -> Self {
        self.task_options = options;
        self
    }
}
