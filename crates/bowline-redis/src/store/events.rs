//! Events of sessions.

use std::{sync::Arc, time::Duration};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{EventStore, StoredEvent},
        store::StoreError,
    },
    transport::BoxFuture,
};

use crate::{
    connection::{Connection, Reply},
    keys::{Kind, hashed},
    limits::Limit,
    script::{EVENTS_AFTER, EVENTS_APPEND, VALUE_REMOVE},
};

/// An [`EventStore`] in Redis.
///
/// The events of a session are one list, oldest first, with a limit: beyond it, the
/// oldest are dropped, and a client that resumes from one of them is told so.
pub struct RedisEventStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) max_bytes: u64,
    pub(crate) max_events_per_session: u64,
    pub(crate) max_bytes_per_session: u64,
}

impl RedisEventStore {
    /// Returns the limit of all sessions. Each has limits of its own.
    fn limit(&self) -> Limit {
        Limit::new(u64::MAX, self.max_bytes).per_account(u64::MAX, u64::MAX)
    }
}

impl EventStore for RedisEventStore {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = hashed(session.as_str());
            let standalone = u8::from(event.is_standalone);
            let head = format!("{} {standalone} {}", event.sequence, event.stream.len());
            let keys = self.connection.keys().with_quota(Kind::Events, &id);
            let call = EVENTS_APPEND
                .call(keys)
                .limited(&id, &self.limit())
                .text(&id)
                .owned(head)
                .text(&event.stream)
                .bytes(&event.message)
                .ttl(ttl)
                .number(self.max_events_per_session)
                .number(self.max_bytes_per_session);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            let events = keys.item(Kind::Events, &hashed(session.as_str()));
            let call = EVENTS_AFTER.call([keys.generation(), events]);
            let call = call.text(stream).number(sequence);
            let mut reply = self.connection.run(call).await?.ok()?;
            let found = reply.list()?.into_iter().map(|event| {
                let mut event = Reply::try_from(event)?;
                Ok(StoredEvent {
                    stream: stream.to_owned(),
                    sequence: event.number()?,
                    is_standalone: event.number()? == 1,
                    message: event.bytes()?,
                })
            });
            found.collect()
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = hashed(session.as_str());
            let keys = self.connection.keys().with_quota(Kind::Events, &id);
            let call = VALUE_REMOVE.call(keys).limited(&id, &self.limit());
            self.connection.run(call.text(&id)).await?.ok().map(drop)
        })
    }
}
