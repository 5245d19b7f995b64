//! What is said of a server, and how it serves.

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
        Observation,
        seal::SealKeys,
        store::{JournalStore, StateStore},
    },
};

/// What clients may keep for a while.
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
    /// What resources hold, unless the resource says otherwise.
    Contents,
}

/// What is said of the server.
impl<S> Server<S> {
    /// How to use the server, for the model.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.config.instructions = Some(instructions.into());
        self
    }

    /// The name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        let title = title.into();
        self.update_server_info(|identity| identity.title = Some(title))
    }

    /// What the server is for.
    pub fn description(self, description: impl Into<String>) -> Self {
        let description = description.into();
        self.update_server_info(|identity| identity.description = Some(description))
    }

    /// Where to read more.
    pub fn website_url(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.update_server_info(|identity| identity.website_url = Some(url))
    }

    /// A picture to show; one more each time.
    pub fn icon(self, icon: Icon) -> Self {
        self.update_server_info(|identity| identity.icons.push(icon))
    }

    /// The revisions that are spoken; all unless given.
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    fn update_server_info(mut self, change: impl FnOnce(&mut Implementation)) -> Self {
        change(Arc::make_mut(&mut self.config.server_info));
        self
    }
}

/// How it serves.
impl<S> Server<S> {
    /// How many things stand on one page of a list: 100.
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size;
        self
    }

    /// How long clients may keep lists, and who may share them. Nothing is
    /// kept unless given. What resources hold is not meant; see
    /// [`cache_hint_for`](Self::cache_only).
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

    /// How long clients may keep one kind of thing, and who may share it.
    ///
    /// A list from which some clients are not told everything is never shared.
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

    /// How many calls of one client's are worked on at once: 64. Others wait
    /// their turn.
    pub fn max_concurrent_calls(mut self, calls: usize) -> Self {
        self.serve_options.max_concurrent_calls = calls.max(1);
        self
    }

    /// How long calls under way may take when the client closes its end of the
    /// link: five seconds.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.serve_options.shutdown_timeout = timeout;
        self
    }

    /// Sees what happens inside, in order, shortly after it happened. It is
    /// called amid the work and must not take long: one that does makes the
    /// server leave things out, and is told how many. It may use the server.
    pub fn observer(mut self, observer: impl Fn(&Observation) + Send + Sync + 'static) -> Self {
        self.config.telemetry = true;
        self.serve_options.observer = Some(Arc::new(observer));
        self
    }

    /// Changes settings of the protocol that have no method here: limits on
    /// frames, requests, subscriptions.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
}

/// How conversations go on where the protocol keeps no state.
impl<S> Server<S> {
    /// The keys that seal what clients carry from round to round. A random key
    /// of this process unless given: then no other node, and no later run, can
    /// go on with a conversation. Keys from a secret need stores that are given
    /// as well.
    pub fn seal_keys(mut self, keys: SealKeys) -> Self {
        self.seal_keys = Some(keys);
        self
    }

    /// Where it is written down what happens in conversations, so that nothing
    /// happens twice. Servers that share conversations must share it; in memory
    /// unless given.
    pub fn journal_store(mut self, store: impl JournalStore) -> Self {
        self.journal_store = Some(Arc::new(store));
        self
    }

    /// Where states are kept that are too large to travel. Servers that share
    /// conversations must share it; in memory unless given.
    pub fn state_store(mut self, store: impl StateStore) -> Self {
        self.state_store = Some(Arc::new(store));
        self
    }

    /// How long a conversation may go on: half an hour.
    pub fn conversation_timeout(mut self, timeout: Duration) -> Self {
        self.conversation_timeout = timeout;
        self
    }

    /// How long a node that works on a conversation may be silent before
    /// another takes it for dead and goes on: six seconds. It gives a sign of
    /// life three times as often.
    ///
    /// A node that was taken for dead finds out before its next effect. If it
    /// was in the middle of one, the conversation is told that nobody knows
    /// what came of it. So a step must not hold its thread for that long; what
    /// does belongs on a thread of its own.
    pub fn lease_timeout(mut self, timeout: Duration) -> Self {
        self.lease_timeout = timeout.max(Duration::from_millis(100));
        self
    }

    /// How long a step that was begun may take to come to its end once its
    /// caller has left: a minute. After that it is cut off, and so is what goes
    /// over 128 of them for one caller, and 1,024 for all.
    pub fn abandoned_step_timeout(mut self, timeout: Duration) -> Self {
        self.abandoned_step_timeout = timeout;
        self
    }

    /// How large a state may be to travel through the client: 32 KiB.
    pub fn max_state_bytes(mut self, bytes: usize) -> Self {
        self.max_state_bytes = bytes;
        self
    }

    /// What time it is, for tests of what happens when time goes by.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}
