//! What a session is made of, in its client's words, for those who take it up.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;

use super::{
    post::PostKind,
    session::{Session, lock},
    sessions::SessionConfig,
    store::{SessionStore, StoredSession, with_store_timeout},
};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, decode_params, scan, split_batch},
        model::{LogLevel, SetLevelParams, method},
    },
    server::auth::grant::Permissions,
};

/// So many resources are noted one by one as they are watched.
const FEW_SUBSCRIPTIONS: u64 = 64;
/// Of more than these, one in so many.
const SUBSCRIPTIONS_PER_STORE: u64 = 16;
/// How long the others wait for that.
const STORE_DELAY: Duration = Duration::from_secs(1);

/// What made a session what it is, as far as it was accepted: the first
/// opening, and levels that there are. What is watched is the machine's to say.
#[derive(Default)]
pub(super) struct SessionRecord {
    initialize: Option<Bytes>,
    initialized: bool,
    log_level: Option<LogLevel>,
    /// How often that changed.
    version: u64,
    stored: StoredVersion,
    /// Somebody is about to note what is watched.
    is_scheduled: bool,
}

/// What is noted.
#[derive(Clone, Copy, Default)]
struct StoredVersion {
    /// When that was, if it was.
    at: Option<Instant>,
    /// How many of the changes.
    version: u64,
    /// How often it had changed what is watched, and how much was.
    subscription_version: u64,
    subscription_count: u64,
}

impl SessionRecord {
    /// Takes in what was posted. Says whether it changes the session.
    fn apply(&mut self, body: &Bytes) -> bool {
        let messages = match split_batch(body) {
            Ok(Messages::Single(message)) => vec![message],
            Ok(Messages::Batch(messages)) => messages,
            Err(_) => return false,
        };
        let mut changed = false;
        for message in messages {
            changed |= match scan(message) {
                Ok(Envelope::Request { method, .. }) if method == method::INITIALIZE => {
                    let first = self.initialize.is_none();
                    // Not the whole of what it came in.
                    let initialize = || Bytes::copy_from_slice(message);
                    self.initialize.get_or_insert_with(initialize);
                    first
                }
                Ok(Envelope::Request { method, params, .. }) => self.apply_request(&method, params),
                Ok(Envelope::Notification { method, .. }) => {
                    let first = method == method::INITIALIZED && !self.initialized;
                    self.initialized |= first;
                    first
                }
                Ok(_) | Err(_) => false,
            };
        }
        changed
    }

    /// Takes in what was asked for.
    fn apply_request(&mut self, name: &str, params: Option<&[u8]>) -> bool {
        if name != method::LOGGING_SET_LEVEL {
            return false;
        }
        let level = decode_params::<SetLevelParams>(params).map(|it| it.level);
        let level = level.ok().filter(|level| LogLevel::ALL.contains(level));
        let changed = level.is_some() && level != self.log_level;
        self.log_level = level.or(self.log_level.take());
        changed
    }

    /// How many bytes it keeps.
    pub(super) fn bytes(&self) -> usize {
        self.initialize.as_ref().map_or(0, Bytes::len)
    }

    /// Messages that make the same session, in their order. Their ids are none
    /// that the client uses.
    fn messages(&self, uris: &[Box<str>]) -> Vec<String> {
        let initialize = self.initialize.iter();
        let initialize =
            initialize.map(|initialize| String::from_utf8_lossy(initialize).into_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": method::INITIALIZED});
        let initialized = self.initialized.then(|| initialized.to_string());
        let level = self.log_level.iter().map(|level| {
            let params = json!({"level": level.as_str()});
            (method::LOGGING_SET_LEVEL, params)
        });
        let uris = uris.iter().map(|uri| {
            let params = json!({"uri": uri});
            (method::RESOURCES_SUBSCRIBE, params)
        });
        let requests = (1..).zip(level.chain(uris));
        let requests = requests.map(|(number, (method, params)): (u32, _)| {
            let id = format!("made-of-{number}");
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
        });
        initialize.chain(initialized).chain(requests).collect()
    }

    /// Whether it is time to note this.
    fn is_due(&self, config: &SessionConfig) -> bool {
        let changed = self.version > self.stored.version;
        let half = config.timeout(self.initialized) / 2;
        changed || self.stored.at.is_none_or(|at| at.elapsed() > half)
    }

    /// Whether it is time to note what is watched, which changed so often so
    /// far. Where much is watched, it is not written anew for each change.
    fn are_subscriptions_due(&self, subscription_version: u64) -> bool {
        let unstored = subscription_version - self.stored.subscription_version;
        let few = self.stored.subscription_count <= FEW_SUBSCRIPTIONS;
        unstored > 0
            && (few || unstored * SUBSCRIPTIONS_PER_STORE >= self.stored.subscription_count)
    }
}

impl Session {
    /// Notes elsewhere what was posted, if it changes what the session is made
    /// of, and now and then that the session is used.
    pub(super) async fn store_record(
        &self,
        store: &dyn SessionStore,
        body: &Bytes,
        config: &SessionConfig,
    ) {
        {
            let mut record = lock(&self.record);
            record.version += u64::from(record.apply(body));
        }
        let is_due = || lock(&self.record).is_due(config);
        self.store_if(is_due, store, config).await;
    }

    /// Notes elsewhere what is watched, if that changed: now, or soon where much
    /// is.
    pub(super) async fn store_subscriptions(
        self: &Arc<Self>,
        store: &Arc<dyn SessionStore>,
        config: &SessionConfig,
    ) {
        let is_due = || {
            let subscription_version = self.shared().subscription_version();
            lock(&self.record).are_subscriptions_due(subscription_version)
        };
        self.store_if(is_due, &**store, config).await;
        self.schedule_store_subscriptions(config);
    }

    /// Has it noted soon what is watched, if that changed.
    pub(super) fn schedule_store_subscriptions(self: &Arc<Self>, config: &SessionConfig) {
        let Some(store) = config.store.clone() else {
            return;
        };
        let subscription_version = self.shared().subscription_version();
        {
            let mut record = lock(&self.record);
            if record.stored.subscription_version == subscription_version || record.is_scheduled {
                return;
            }
            record.is_scheduled = true;
        }
        let (session, config) = (Arc::clone(self), config.clone());
        tokio::spawn(async move {
            tokio::time::sleep(STORE_DELAY).await;
            lock(&session.record).is_scheduled = false;
            let is_due = || {
                let subscription_version = session.shared().subscription_version();
                lock(&session.record).stored.subscription_version < subscription_version
            };
            session.store_if(is_due, &*store, &config).await;
        });
    }

    /// Forgets elsewhere what was noted, and notes nothing more: the client
    /// ended the session.
    pub(super) async fn remove_stored(&self, store: &dyn SessionStore) {
        let mut ended = self.store_lock.lock().await;
        *ended = true;
        // What stays behind in a store that failed expires.
        with_store_timeout(store.remove(&self.id)).await;
    }

    /// The same, for a session that gave way here; if another node has noted it
    /// since, it may be alive there.
    pub(super) async fn remove_stored_unless_moved(&self, store: &dyn SessionStore, node: &str) {
        let mut ended = self.store_lock.lock().await;
        *ended = true;
        let stored = with_store_timeout(store.get(&self.id)).await.flatten();
        if stored.is_some_and(|stored| stored.node == node) {
            with_store_timeout(store.remove(&self.id)).await;
        }
    }

    /// Notes elsewhere that the session is used.
    pub(super) async fn refresh_stored(&self, store: &dyn SessionStore, config: &SessionConfig) {
        self.store_if(|| true, store, config).await;
    }

    async fn store_if(
        &self,
        is_due: impl Fn() -> bool,
        store: &dyn SessionStore,
        config: &SessionConfig,
    ) {
        if !is_due() {
            return;
        }
        // One after the other: what is older must not come last.
        let ended = self.store_lock.lock().await;
        // Whoever was first may have noted this, too.
        if *ended || !is_due() {
            return;
        }
        // One that is over here watches nothing; what is noted is still true.
        let Some((uris, subscription_version)) = self.shared().subscriptions() else {
            return;
        };
        let (stored, version, timeout) = {
            let record = lock(&self.record);
            let stored = StoredSession {
                principal: self.principal.as_deref().map(ToOwned::to_owned),
                messages: record.messages(&uris),
                node: config.node.as_ref().to_owned(),
            };
            let version = StoredVersion {
                at: None,
                version: record.version,
                subscription_version,
                subscription_count: uris.len() as u64,
            };
            (stored, version, config.timeout(record.initialized))
        };
        // Not all use is noted at once. A session that could not be noted is
        // known here all the same.
        with_store_timeout(store.put(&self.id, stored, timeout * 2)).await;
        // After that: a client that left meanwhile leaves it to the next one.
        let at = Some(Instant::now());
        lock(&self.record).stored = StoredVersion { at, ..version };
    }

    /// Says again what made a session, to one that is new, on behalf of a caller
    /// who may do this. Says whether that opened it.
    pub(super) async fn rebuild(&self, stored: StoredSession, permissions: &Permissions) -> bool {
        for (number, message) in stored.messages.into_iter().enumerate() {
            let message = Bytes::from(message);
            lock(&self.record).apply(&message);
            let kind = match number {
                0 => PostKind::Initialize,
                _ => PostKind::Other,
            };
            // The answers were given when it was said first. They are waited
            // for: more may be asked here than a client may ask at once.
            let mut posted = self.post(message, None, kind, permissions.clone());
            while let Some(posted) = &mut posted {
                if posted.reader.messages.recv().await.is_none() {
                    break;
                }
            }
        }
        self.revision().is_some()
    }
}
