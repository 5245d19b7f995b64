//! Sealed states.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::store::{ConversationKey, SealedStateStore, StoreError},
    transport::BoxFuture,
};
use bytes::Bytes;
use redis::cmd;

use crate::{
    connection::{Connection, optional_bytes},
    keys::Kind,
    limits::Limit,
    script::VALUE_PUT,
};

/// A [`SealedStateStore`] in Redis.
pub struct RedisSealedStateStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) limit: Limit,
}

impl SealedStateStore for RedisSealedStateStore {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys().with_quota(Kind::State, key.id);
            let call = VALUE_PUT.call(keys).limited(key.account, &self.limit);
            let call = call.text(key.id).bytes(&state).ttl(ttl);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move {
            let mut get = cmd("GET");
            get.arg(self.connection.keys().item(Kind::State, key.id));
            optional_bytes(self.connection.query(&get).await?)
        })
    }
}
