//! Sessions.

use std::{sync::Arc, time::Duration};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{SessionStore, StoredSession},
        store::StoreError,
    },
    transport::BoxFuture,
};
use redis::cmd;

use crate::{
    connection::{Connection, optional_bytes},
    keys::{Kind, hashed},
    limits::Limit,
    script::{VALUE_PUT, VALUE_REMOVE},
};

/// A [`SessionStore`] in Redis.
///
/// Ids of sessions are hashed: whoever reads the keys learns none.
pub struct RedisSessionStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) limit: Limit,
}

impl SessionStore for RedisSessionStore {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = hashed(id.as_str());
            let account = session.principal.as_deref().map(hashed).unwrap_or_default();
            let session = serde_json::to_vec(&session).map_err(|error| {
                StoreError::new("a session cannot be serialized").with_source(error)
            })?;
            let keys = self.connection.keys().with_quota(Kind::Session, &id);
            let call = VALUE_PUT.call(keys).limited(&account, &self.limit);
            let call = call.text(&id).bytes(&session).ttl(ttl);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let mut get = cmd("GET");
            let key = self
                .connection
                .keys()
                .item(Kind::Session, &hashed(id.as_str()));
            get.arg(key);
            let stored = optional_bytes(self.connection.query(&get).await?)?;
            let unreadable =
                |error| StoreError::new("a session in Redis cannot be read").with_source(error);
            let session = stored.map(|stored| serde_json::from_slice(&stored));
            session.transpose().map_err(unreadable)
        })
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = hashed(id.as_str());
            let keys = self.connection.keys().with_quota(Kind::Session, &id);
            let call = VALUE_REMOVE.call(keys).limited("", &self.limit);
            self.connection.run(call.text(&id)).await?.ok().map(drop)
        })
    }
}
