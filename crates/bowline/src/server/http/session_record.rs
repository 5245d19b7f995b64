//! The messages that define a session, stored so it can be restored.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;

use super::{
    post::PostKind,
    session::Session,
    session_seal::SessionContents,
    session_stores::{SessionStore, StoredSession, with_store_timeout},
    sessions::SessionConfig,
};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, decode_params, scan, split_batch},
        model::{LogLevel, SetLevelParams, method},
    },
    server::{auth::permissions::Permissions, replay::state::account},
    sync,
};

/// Up to this many subscriptions, each one is stored at once.
const FEW_SUBSCRIPTIONS: u64 = 64;
/// Beyond that, they are stored once one in this many has changed.
const SUBSCRIPTIONS_PER_STORE: u64 = 16;
/// How long the other changes wait to be stored.
const STORE_DELAY: Duration = Duration::from_secs(1);

/// The accepted messages that define a session: the first `initialize`, and
/// valid log levels. Subscriptions come from the machine.
#[derive(Default)]
pub(super) struct SessionRecord {
    initialize: Option<Bytes>,
    initialized: bool,
    log_level: Option<LogLevel>,
    /// How often it changed.
    version: u64,
    stored: StoredVersion,
    /// Whether a task to store the subscriptions is scheduled.
    is_scheduled: bool,
}

/// The version that is stored.
#[derive(Clone, Copy, Default)]
struct StoredVersion {
    /// When it was stored, if it was.
    at: Option<Instant>,
    /// The record version.
    version: u64,
    /// The subscription version, and the number of subscriptions.
    subscription_version: u64,
    subscription_count: u64,
}

impl SessionRecord {
    /// Applies a posted message. Returns whether it changes the session.
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
                    // Copied, so it does not keep the whole body alive.
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

    /// Applies a request.
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

    /// Returns how many bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.initialize.as_ref().map_or(0, Bytes::len)
    }

    /// Returns messages that recreate the session, in order. Their ids are
    /// never used by the client.
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

    /// Returns whether the record should be stored now.
    fn is_due(&self, config: &SessionConfig) -> bool {
        let changed = self.version > self.stored.version;
        let half = config.timeout(self.initialized) / 2;
        changed || self.stored.at.is_none_or(|at| at.elapsed() > half)
    }

    /// Returns whether the subscriptions should be stored now. A large number
    /// of them is not written again for each change.
    fn are_subscriptions_due(&self, subscription_version: u64) -> bool {
        let unstored = subscription_version - self.stored.subscription_version;
        let few = self.stored.subscription_count <= FEW_SUBSCRIPTIONS;
        unstored > 0
            && (few || unstored * SUBSCRIPTIONS_PER_STORE >= self.stored.subscription_count)
    }
}

impl Session {
    /// Stores the record if a posted message changes it, and from time to time
    /// to extend its expiry.
    pub(super) async fn store_record(
        &self,
        store: &dyn SessionStore,
        body: &Bytes,
        config: &SessionConfig,
    ) {
        {
            let mut record = sync::lock(&self.record);
            record.version += u64::from(record.apply(body));
        }
        let is_due = || sync::lock(&self.record).is_due(config);
        self.store_if(is_due, store, config).await;
    }

    /// Stores the subscriptions if they changed: now, or soon if there are
    /// many.
    pub(super) async fn store_subscriptions(
        self: &Arc<Self>,
        store: &Arc<dyn SessionStore>,
        config: &SessionConfig,
    ) {
        let is_due = || {
            let subscription_version = self.shared().subscription_version();
            sync::lock(&self.record).are_subscriptions_due(subscription_version)
        };
        self.store_if(is_due, &**store, config).await;
        self.schedule_store_subscriptions(config);
    }

    /// Schedules storing the subscriptions if they changed.
    pub(super) fn schedule_store_subscriptions(self: &Arc<Self>, config: &SessionConfig) {
        let Some(store) = config.store.clone() else {
            return;
        };
        let subscription_version = self.shared().subscription_version();
        {
            let mut record = sync::lock(&self.record);
            if record.stored.subscription_version == subscription_version || record.is_scheduled {
                return;
            }
            record.is_scheduled = true;
        }
        let (session, config) = (Arc::clone(self), config.clone());
        tokio::spawn(async move {
            tokio::time::sleep(STORE_DELAY).await;
            sync::lock(&session.record).is_scheduled = false;
            let is_due = || {
                let subscription_version = session.shared().subscription_version();
                sync::lock(&session.record).stored.subscription_version < subscription_version
            };
            session.store_if(is_due, &*store, &config).await;
        });
    }

    /// Removes the stored record and stores nothing more: the client ended the
    /// session, or it was evicted. If another node has taken it over, its record
    /// stays.
    pub(super) async fn remove_stored(&self, store: &dyn SessionStore, node: &str) {
        let mut ended = self.store_lock.lock().await;
        *ended = true;
        // If the store fails, the record expires.
        with_store_timeout(store.remove(&self.id, node)).await;
    }

    /// Extends the expiry of the stored record.
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
        // Serialized: an older record must not overwrite a newer one.
        let ended = self.store_lock.lock().await;
        // The previous holder of the lock may have stored this too.
        if *ended || !is_due() {
            return;
        }
        // A closed session has no subscriptions; the stored record is still
        // true.
        let Some((uris, subscription_version)) = self.shared().subscriptions() else {
            return;
        };
        let (stored, version, timeout) = {
            let record = sync::lock(&self.record);
            let contents = SessionContents {
                principal: self.principal.as_deref().map(ToOwned::to_owned),
                messages: record.messages(&uris),
            };
            let stored = StoredSession {
                node: config.node.as_ref().to_owned(),
                account: account(self.principal.as_deref()).into(),
                value: config.seal.seal_record(&self.id, &contents),
            };
            let version = StoredVersion {
                at: None,
                version: record.version,
                subscription_version,
                subscription_count: uris.len() as u64,
            };
            (stored, version, config.timeout(record.initialized))
        };
        // The expiry is not extended at once on every use. A session that
        // cannot be stored remains available here.
        match with_store_timeout(store.put(&self.id, stored, timeout * 2)).await {
            Some(true) => {}
            // Another node has taken it over, and answers its client from now on.
            Some(false) => return self.close(),
            // The next request stores it: without this, a node that takes it over would not
            // know, for example, that it was initialized.
            None => return,
        }
        // Last: if the client disconnects before, the next request stores it.
        let at = Some(Instant::now());
        sync::lock(&self.record).stored = StoredVersion { at, ..version };
    }

    /// Replays the stored messages to a new session, with the permissions of
    /// the caller. Returns whether that opened it.
    pub(super) async fn rebuild(
        &self,
        contents: SessionContents,
        permissions: &Permissions,
    ) -> bool {
        for (number, message) in contents.messages.into_iter().enumerate() {
            let message = Bytes::from(message);
            sync::lock(&self.record).apply(&message);
            let kind = match number {
                0 => PostKind::Initialize,
                _ => PostKind::Other,
            };
            // The responses were sent the first time. They are awaited because
            // there may be more requests than a client may have in flight.
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
