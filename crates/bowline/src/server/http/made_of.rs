//! What a session is made of, in its client's words, for those who take it up.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::Instant;

use super::{
    post::Said,
    session::{Session, lock},
    store::{SessionStore, StoredSession},
};
use crate::proto::{
    jsonrpc::{Envelope, Messages, decode, scan, split},
    model::method,
};
use crate::server::auth::grant::Granted;

/// The messages that made a session what it is.
#[derive(Default)]
pub(super) struct MadeOf {
    opening: Option<Bytes>,
    initialized: Option<Bytes>,
    log_level: Option<Bytes>,
    /// What is watched, by its URI.
    watched: BTreeMap<Box<str>, Bytes>,
    /// When that was noted last.
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
            changed |= self.take_in_one(&body.slice_ref(message));
        }
        changed
    }

    fn take_in_one(&mut self, message: &Bytes) -> bool {
        let (name, params) = match scan(message) {
            Ok(
                Envelope::Request { method, params, .. }
                | Envelope::Notification { method, params },
            ) => (method, params),
            Ok(_) | Err(_) => return false,
        };
        let watched = || decode::<Watched>(params.unwrap_or(b"{}")).ok();
        match &*name {
            method::INITIALIZE => self.opening = Some(message.clone()),
            method::INITIALIZED => self.initialized = Some(message.clone()),
            method::LOGGING_SET_LEVEL => self.log_level = Some(message.clone()),
            method::RESOURCES_SUBSCRIBE => {
                let Some(Watched { uri }) = watched() else {
                    return false;
                };
                self.watched.insert(uri, message.clone());
            }
            method::RESOURCES_UNSUBSCRIBE => {
                let known = watched().and_then(|it| self.watched.remove(&it.uri));
                return known.is_some();
            }
            _ => return false,
        }
        true
    }

    /// The messages, in an order that makes the same session of them.
    fn messages(&self) -> impl Iterator<Item = &Bytes> {
        let first = [&self.opening, &self.initialized, &self.log_level];
        first.into_iter().flatten().chain(self.watched.values())
    }

    fn store(&self, principal: Option<&str>) -> StoredSession {
        let messages = self.messages();
        let messages = messages.map(|message| String::from_utf8_lossy(message).into_owned());
        StoredSession {
            principal: principal.map(ToOwned::to_owned),
            messages: messages.collect(),
        }
    }
}

impl Session {
    /// Notes elsewhere what was posted, if it changes what the session is made
    /// of, and now and then that the session is used.
    pub(super) async fn note(&self, store: &dyn SessionStore, body: &Bytes, idle: Duration) {
        let due = {
            let mut made_of = lock(&self.made_of);
            let changed = made_of.take_in(body);
            changed || made_of.noted.is_none_or(|at| at.elapsed() > idle / 2)
        };
        if due {
            self.note_use(store, idle).await;
        }
    }

    /// Notes elsewhere that the session is used.
    pub(super) async fn note_use(&self, store: &dyn SessionStore, idle: Duration) {
        let stored = {
            let mut made_of = lock(&self.made_of);
            made_of.noted = Some(Instant::now());
            made_of.store(self.principal.as_deref())
        };
        // Not all use is noted at once. A session that could not be noted is
        // known here all the same.
        let _ = store.put(&self.id, stored, idle * 2).await;
    }

    /// Says again what made a session, to one that is new. Says whether that
    /// opened it.
    pub(super) fn remake(&self, stored: StoredSession) -> bool {
        for (number, message) in stored.messages.into_iter().enumerate() {
            let message = Bytes::from(message);
            lock(&self.made_of).take_in(&message);
            let said = match number {
                0 => Said::Opening,
                _ => Said::Other,
            };
            // The answers were given when it was said first.
            drop(self.post(message, said, Granted::default()));
        }
        self.revision().is_some()
    }
}
