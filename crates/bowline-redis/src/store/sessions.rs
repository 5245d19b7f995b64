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
    connection::{Connection, Reply},
    keys::{Kind, hashed},
    limits::Limit,
    script::{SESSION_PUT, SESSION_REMOVE, SESSION_TAKE_OVER},
};

/// A [`SessionStore`] in Redis.
///
/// Ids of sessions are hashed: whoever reads the keys learns none.
pub struct RedisSessionStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) limit: Limit,
}

impl RedisSessionStore {
    fn keys(&self, id: &str) -> Vec<String> {
        self.connection.keys().with_quota(Kind::Session, id)
    }
}

impl SessionStore for RedisSessionStore {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let id = hashed(id.as_str());
            let call = SESSION_PUT.call(self.keys(&id));
            let call = call.limited(&session.account, &self.limit);
            let call = call.text(&id).bytes(&session.value).ttl(ttl);
            let reply = self.connection.run(call.text(&session.node)).await?;
            if reply.is("OTHER") {
                return Ok(false);
            }
            reply.ok().map(|_| true)
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let mut get = cmd("HMGET");
            let keys = self.connection.keys();
            get.arg(keys.item(Kind::Session, &hashed(id.as_str())));
            get.arg(&["node", "account", "value"]);
            let mut fields = Reply::try_from(self.connection.query(&get).await?)?;
            let Some(node) = fields.optional_bytes()? else {
                return Ok(None);
            };
            let node = String::from_utf8_lossy(&node).into_owned();
            let (account, value) = (fields.text()?, fields.bytes()?);
            Ok(Some(StoredSession {
                node,
                account,
                value,
            }))
        })
    }

    fn take_over<'a>(
        &'a self,
        id: &'a SessionId,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            let keys = [
                keys.generation(),
                keys.item(Kind::Session, &hashed(id.as_str())),
            ];
            let call = SESSION_TAKE_OVER.call(keys).text(from).text(to);
            let reply = self.connection.run(call).await?;
            if reply.is("OTHER") {
                return Ok(false);
            }
            reply.ok().map(|_| true)
        })
    }

    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        node: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let id = hashed(id.as_str());
            let call = SESSION_REMOVE.call(self.keys(&id)).limited("", &self.limit);
            let reply = self.connection.run(call.text(&id).text(node)).await?;
            reply.ok().map(drop)
        })
    }
}
