//! The nodes that are alive.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::{http::NodeStore, store::StoreError},
    transport::BoxFuture,
};
use redis::cmd;

use crate::{
    connection::{Connection, optional_bytes},
    script::NODE_REGISTER,
};

/// A [`NodeStore`] in Redis.
pub struct RedisNodeStore {
    pub(crate) connection: Arc<Connection>,
}

impl NodeStore for RedisNodeStore {
    fn register<'a>(
        &'a self,
        node: &'a str,
        address: &'a str,
        lease: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let keys = self.connection.keys();
            let call = NODE_REGISTER.call([keys.generation(), keys.node(node)]);
            let call = call.text(address).ttl(lease).not_repeatable();
            let mut reply = self.connection.run(call).await?.ok()?;
            Ok(reply.number()? > 0)
        })
    }

    fn address<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let mut get = cmd("GET");
            get.arg(self.connection.keys().node(node));
            let address = optional_bytes(self.connection.query(&get).await?)?;
            Ok(address.map(|it| String::from_utf8_lossy(&it).into_owned()))
        })
    }

    fn remove<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut remove = cmd("UNLINK");
            remove.arg(self.connection.keys().node(node));
            self.connection.query(&remove).await.map(drop)
        })
    }
}
