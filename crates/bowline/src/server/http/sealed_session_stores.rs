//! Seals sessions and events before they leave the process.

use std::{sync::Arc, time::Duration};

use super::session_stores::{EventStore, SessionStore, StoredEvent, StoredSession};
use crate::{
    proto::http::SessionId,
    server::{
        replay::{journal::digest, state::account},
        seal::SealKeys,
        store::StoreError,
    },
    transport::BoxFuture,
};

/// A store that receives sealed values. Values that do not open, because they were
/// altered or are of another server, do not exist.
pub(super) struct Sealed<S: ?Sized> {
    store: Arc<S>,
    seal_keys: SealKeys,
    server_name: Box<str>,
}

impl<S: ?Sized> Sealed<S> {
    pub(super) fn new(store: Arc<S>, seal_keys: SealKeys, server_name: &str) -> Self {
        Self {
            store,
            seal_keys,
            server_name: server_name.into(),
        }
    }

    /// Binds a sealed value to its place.
    fn purpose(&self, kind: &str, session: &SessionId, place: &[&[u8]]) -> [u8; 32] {
        let parts = [kind.as_bytes(), self.server_name.as_bytes()].into_iter();
        digest(
            parts
                .chain([session.as_str().as_bytes()])
                .chain(place.iter().copied()),
        )
    }

    fn event_purpose(&self, session: &SessionId, event: &StoredEvent) -> [u8; 32] {
        let sequence = event.sequence.to_le_bytes();
        let standalone = [u8::from(event.is_standalone)];
        let place = [event.stream.as_bytes(), &sequence, &standalone];
        self.purpose("event", session, &place)
    }
}

/// The store sees a digest of the principal, one sealed message, and the node.
impl SessionStore for Sealed<dyn SessionStore> {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let plain = serde_json::to_vec(&session).map_err(|error| {
                StoreError::new("a session cannot be serialized").with_source(error)
            })?;
            let purpose = self.purpose("session", id, &[]);
            let principal = session.principal.as_deref();
            let sealed = StoredSession {
                principal: principal.map(|principal| account(Some(principal)).into()),
                messages: vec![self.seal_keys.seal(&purpose, &plain)],
                node: session.node,
            };
            self.store.put(id, sealed, ttl).await
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let stored = self.store.get(id).await?;
            let open = |stored: StoredSession| {
                let purpose = self.purpose("session", id, &[]);
                let plain = self.seal_keys.open(&purpose, stored.messages.first()?);
                serde_json::from_slice(&plain.ok()?).ok()
            };
            Ok(stored.and_then(open))
        })
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.remove(id)
    }
}

impl EventStore for Sealed<dyn EventStore> {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        mut event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let purpose = self.event_purpose(session, &event);
        event.message = self.seal_keys.seal_bytes(&purpose, &event.message).into();
        self.store.append(session, event, ttl)
    }

    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>> {
        Box::pin(async move {
            let stored = self.store.events_after(session, stream, sequence).await?;
            let opened = stored.into_iter().map_while(|mut event| {
                let purpose = self.event_purpose(session, &event);
                let plain = self.seal_keys.open_bytes(&purpose, &event.message);
                event.message = plain.ok()?.into();
                Some(event)
            });
            Ok(opened.collect())
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.remove(session)
    }
}
