//! What a session is made of, in its client's words, for those who take it up.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;

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

/// So many resources are noted one by one as they are watched.
const FEW_WATCHED: u64 = 64;
/// Of more than these, one in so many.
const NOTED_SHARE: u64 = 16;
/// How long the others wait for that.
const NOTED_WITHIN: Duration = Duration::from_secs(1);

/// What made a session what it is, as far as it was accepted: the first
/// opening, and levels that there are. What is watched is the machine's to say.
#[derive(Default)]
pub(super) struct MadeOf {
    opening: Option<Bytes>,
    initialized: bool,
    log_level: Option<LogLevel>,
    /// How often that changed.
    changes: u64,
    noted: Noted,
    /// Somebody is about to note what is watched.
    is_scheduled: bool,
}

/// What is noted.
#[derive(Clone, Copy, Default)]
struct Noted {
    /// When that was, if it was.
    at: Option<Instant>,
    /// How many of the changes.
    changes: u64,
    /// How often it had changed what is watched, and how much was.
    watch_count: u64,
    watched: u64,
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
                    // Not the whole of what it came in.
                    let opening = || Bytes::copy_from_slice(message);
                    self.opening.get_or_insert_with(opening);
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
        self.opening.as_ref().map_or(0, Bytes::len)
    }

    /// Messages that make the same session, in their order. Their ids are none
    /// that the client uses.
    fn messages(&self, watched: &[Box<str>]) -> Vec<String> {
        let opening = self.opening.iter();
        let opening = opening.map(|opening| String::from_utf8_lossy(opening).into_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": method::INITIALIZED});
        let initialized = self.initialized.then(|| initialized.to_string());
        let level = self.log_level.iter().map(|level| {
            let params = json!({"level": level.as_str()});
            (method::LOGGING_SET_LEVEL, params)
        });
        let watched = watched.iter().map(|uri| {
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

    /// Whether it is time to note this.
    fn is_due(&self, life: &Life) -> bool {
        let changed = self.changes > self.noted.changes;
        let half = life.idle(self.initialized) / 2;
        changed || self.noted.at.is_none_or(|at| at.elapsed() > half)
    }

    /// Whether it is time to note what is watched, which changed so often so
    /// far. Where much is watched, it is not written anew for each change.
    fn is_watching_due(&self, watch_count: u64) -> bool {
        let unnoted = watch_count - self.noted.watch_count;
        let few = self.noted.watched <= FEW_WATCHED;
        unnoted > 0 && (few || unnoted * NOTED_SHARE >= self.noted.watched)
    }
}

impl Session {
    /// Notes elsewhere what was posted, if it changes what the session is made
    /// of, and now and then that the session is used.
    pub(super) async fn note(&self, store: &dyn SessionStore, body: &Bytes, life: &Life) {
        {
            let mut made_of = lock(&self.made_of);
            made_of.changes += u64::from(made_of.take_in(body));
        }
        let is_due = || lock(&self.made_of).is_due(life);
        self.put_if(is_due, store, life).await;
    }

    /// Notes elsewhere what is watched, if that changed: now, or soon where much
    /// is.
    pub(super) async fn note_watched(self: &Arc<Self>, store: &Arc<dyn SessionStore>, life: &Life) {
        let is_due = || {
            let watch_count = self.shared().watch_count();
            lock(&self.made_of).is_watching_due(watch_count)
        };
        self.put_if(is_due, &**store, life).await;
        self.note_watched_later(life);
    }

    /// Has it noted soon what is watched, if that changed.
    pub(super) fn note_watched_later(self: &Arc<Self>, life: &Life) {
        let Some(store) = life.store.clone() else {
            return;
        };
        let watch_count = self.shared().watch_count();
        {
            let mut made_of = lock(&self.made_of);
            if made_of.noted.watch_count == watch_count || made_of.is_scheduled {
                return;
            }
            made_of.is_scheduled = true;
        }
        let (session, life) = (Arc::clone(self), life.clone());
        tokio::spawn(async move {
            tokio::time::sleep(NOTED_WITHIN).await;
            lock(&session.made_of).is_scheduled = false;
            let is_due = || {
                let watch_count = session.shared().watch_count();
                lock(&session.made_of).noted.watch_count < watch_count
            };
            session.put_if(is_due, &*store, &life).await;
        });
    }

    /// Forgets elsewhere what was noted, and notes nothing more: the client
    /// ended the session.
    pub(super) async fn forget(&self, store: &dyn SessionStore) {
        let mut ended = self.noting.lock().await;
        *ended = true;
        // What stays behind in a store that failed expires.
        answer_of(store.remove(&self.id)).await;
    }

    /// The same, for a session that gave way here; if another node has noted it
    /// since, it may be alive there.
    pub(super) async fn forget_unless_moved(&self, store: &dyn SessionStore, node: &str) {
        let mut ended = self.noting.lock().await;
        *ended = true;
        let stored = answer_of(store.get(&self.id)).await.flatten();
        if stored.is_some_and(|stored| stored.node == node) {
            answer_of(store.remove(&self.id)).await;
        }
    }

    /// Notes elsewhere that the session is used.
    pub(super) async fn note_use(&self, store: &dyn SessionStore, life: &Life) {
        self.put_if(|| true, store, life).await;
    }

    async fn put_if(&self, is_due: impl Fn() -> bool, store: &dyn SessionStore, life: &Life) {
        if !is_due() {
            return;
        }
        // One after the other: what is older must not come last.
        let ended = self.noting.lock().await;
        // Whoever was first may have noted this, too.
        if *ended || !is_due() {
            return;
        }
        // One that is over here watches nothing; what is noted is still true.
        let Some((watched, watch_count)) = self.shared().watched() else {
            return;
        };
        let (stored, noted, idle) = {
            let made_of = lock(&self.made_of);
            let stored = StoredSession {
                principal: self.principal.as_deref().map(ToOwned::to_owned),
                messages: made_of.messages(&watched),
                node: life.node.as_ref().to_owned(),
            };
            let noted = Noted {
                at: None,
                changes: made_of.changes,
                watch_count,
                watched: watched.len() as u64,
            };
            (stored, noted, life.idle(made_of.initialized))
        };
        // Not all use is noted at once. A session that could not be noted is
        // known here all the same.
        answer_of(store.put(&self.id, stored, idle * 2)).await;
        // After that: a client that left meanwhile leaves it to the next one.
        let at = Some(Instant::now());
        lock(&self.made_of).noted = Noted { at, ..noted };
    }

    /// Says again what made a session, to one that is new, on behalf of a caller
    /// who may do this. Says whether that opened it.
    pub(super) async fn remake(&self, stored: StoredSession, granted: &Granted) -> bool {
        for (number, message) in stored.messages.into_iter().enumerate() {
            let message = Bytes::from(message);
            lock(&self.made_of).take_in(&message);
            let said = match number {
                0 => Said::Opening,
                _ => Said::Other,
            };
            // The answers were given when it was said first. They are waited
            // for: more may be asked here than a client may ask at once.
            let mut posted = self.post(message, None, said, granted.clone());
            while let Some(posted) = &mut posted {
                if posted.reader.messages.recv().await.is_none() {
                    break;
                }
            }
        }
        self.revision().is_some()
    }
}
