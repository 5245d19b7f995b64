//! What a session is made of, in its client's words, for those who take it up.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::{sync::MutexGuard, time::Instant};

use super::{
    post::Said,
    session::{Session, lock},
    sessions::Life,
    store::{SessionStore, StoredSession, answer_of},
};
use crate::{
    proto::{
        jsonrpc::{Envelope, Messages, decode_params, scan, split},
        model::{LogLevel, SetLevelParams, method},
    },
    server::auth::grant::Granted,
};

/// How many bytes of what is watched are noted. More is known here only.
const MOST_WATCHED: usize = 1024 * 1024;
/// What a resource that is watched takes besides its URI.
const PER_WATCHED: usize = 128;

/// What made a session what it is, as far as it was accepted: the first
/// opening, and levels that there are. Whether something may be watched is for
/// the server to say, here and wherever the session is taken up.
#[derive(Default)]
pub(super) struct MadeOf {
    opening: Option<Bytes>,
    initialized: bool,
    log_level: Option<LogLevel>,
    /// The URIs of what is watched.
    watched: BTreeSet<Box<str>>,
    /// How much room they take.
    bytes: usize,
    /// How often that changed, and how many of the changes are noted.
    changes: u64,
    noted_changes: u64,
    /// When it was noted last.
    noted: Option<Instant>,
}

#[derive(Deserialize)]
struct Watched {
    uri: Box<str>,
}

impl MadeOf {
    /// Takes in what was posted. Says whether it changes the session.
    fn take_in(&mut self, body: &Bytes) -> bool {
        let messages = match split(body) {
            Ok(Messages::One(message)) => vec![message],
            Ok(Messages::Batch(messages)) => messages,
            Err(_) => return false,
        };
        let mut changed = false;
        for message in messages {
            changed |= match scan(message) {
                Ok(Envelope::Request { method, .. }) if method == method::INITIALIZE => {
                    let first = self.opening.is_none();
                    self.opening.get_or_insert_with(|| body.slice_ref(message));
                    first
                }
                Ok(Envelope::Request { method, params, .. }) => self.asked(&method, params),
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
    fn asked(&mut self, name: &str, params: Option<&[u8]>) -> bool {
        let watched = || decode_params::<Watched>(params).ok();
        match name {
            method::LOGGING_SET_LEVEL => {
                let level = decode_params::<SetLevelParams>(params).map(|it| it.level);
                let level = level.ok().filter(|level| LogLevel::ALL.contains(level));
                let changed = level.is_some() && level != self.log_level;
                self.log_level = level.or(self.log_level.take());
                changed
            }
            method::RESOURCES_SUBSCRIBE => watched().is_some_and(|it| self.watch(it.uri)),
            method::RESOURCES_UNSUBSCRIBE => watched().is_some_and(|it| self.unwatch(&it.uri)),
            _ => false,
        }
    }

    fn watch(&mut self, uri: Box<str>) -> bool {
        let size = uri.len() + PER_WATCHED;
        let new = self.bytes + size <= MOST_WATCHED && self.watched.insert(uri);
        self.bytes += if new { size } else { 0 };
        new
    }

    fn unwatch(&mut self, uri: &str) -> bool {
        let known = self.watched.remove(uri);
        self.bytes -= if known { uri.len() + PER_WATCHED } else { 0 };
        known
    }

    /// Messages that make the same session, in their order. Their ids are none
    /// that the client uses.
    fn messages(&self) -> Vec<String> {
        let opening = self.opening.iter();
        let opening = opening.map(|opening| String::from_utf8_lossy(opening).into_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": method::INITIALIZED});
        let initialized = self.initialized.then(|| initialized.to_string());
        let level = self.log_level.iter().map(|level| {
            let params = json!({"level": level.as_str()});
            (method::LOGGING_SET_LEVEL, params)
        });
        let watched = self.watched.iter().map(|uri| {
            let params = json!({"uri": uri});
            (method::RESOURCES_SUBSCRIBE, params)
        });
        let asked = (1..).zip(level.chain(watched));
        let asked = asked.map(|(number, (method, params)): (u32, _)| {
            let id = format!("made-of-{number}");
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
        });
        opening.chain(initialized).chain(asked).collect()
    }

    fn store(&self, principal: Option<&str>) -> StoredSession {
        StoredSession {
            principal: principal.map(ToOwned::to_owned),
            messages: self.messages(),
        }
    }
}

impl MadeOf {
    /// Whether it is time to note this.
    fn is_due(&self, life: &Life) -> bool {
        let changed = self.changes > self.noted_changes;
        let half = life.idle(self.initialized) / 2;
        changed || self.noted.is_none_or(|at| at.elapsed() > half)
    }
}

impl Session {
    /// Notes elsewhere what was posted, if it changes what the session is made
    /// of, and now and then that the session is used.
    pub(super) async fn note(&self, store: &dyn SessionStore, body: &Bytes, life: &Life) {
        let due = {
            let mut made_of = lock(&self.made_of);
            made_of.changes += u64::from(made_of.take_in(body));
            made_of.is_due(life)
        };
        if !due {
            return;
        }
        // One after the other: what is older must not come last.
        let noting = self.noting.lock().await;
        // Whoever was first may have noted this, too.
        let due = lock(&self.made_of).is_due(life);
        if due {
            self.put(store, life, &noting).await;
        }
    }

    /// Forgets elsewhere what was noted, and notes nothing more: the client
    /// ended the session.
    pub(super) async fn forget(&self, store: &dyn SessionStore) {
        let mut ended = self.noting.lock().await;
        *ended = true;
        // What stays behind in a store that failed expires.
        answer_of(store.remove(&self.id)).await;
    }

    /// Notes elsewhere that the session is used.
    pub(super) async fn note_use(&self, store: &dyn SessionStore, life: &Life) {
        let noting = self.noting.lock().await;
        self.put(store, life, &noting).await;
    }

    async fn put(&self, store: &dyn SessionStore, life: &Life, ended: &MutexGuard<'_, bool>) {
        if **ended {
            return;
        }
        let (stored, changes, idle) = {
            let made_of = lock(&self.made_of);
            let stored = made_of.store(self.principal.as_deref());
            (stored, made_of.changes, life.idle(made_of.initialized))
        };
        // Not all use is noted at once. A session that could not be noted is
        // known here all the same.
        answer_of(store.put(&self.id, stored, idle * 2)).await;
        // After that: a client that left meanwhile leaves it to the next one.
        let mut made_of = lock(&self.made_of);
        made_of.noted_changes = changes;
        made_of.noted = Some(Instant::now());
    }

    /// Says again what made a session, to one that is new. Says whether that
    /// opened it.
    pub(super) async fn remake(&self, stored: StoredSession) -> bool {
        for (number, message) in stored.messages.into_iter().enumerate() {
            let message = Bytes::from(message);
            lock(&self.made_of).take_in(&message);
            let said = match number {
                0 => Said::Opening,
                _ => Said::Other,
            };
            // The answers were given when it was said first. They are waited
            // for: more may be asked here than a client may ask at once.
            let mut posted = self.post(message, None, said, Granted::default());
            while let Some(posted) = &mut posted {
                if posted.reader.messages.recv().await.is_none() {
                    break;
                }
            }
        }
        self.revision().is_some()
    }
}
