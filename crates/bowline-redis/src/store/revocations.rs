//! Revoked tokens.

use std::{sync::Arc, time::Duration};

use bowline::{
    server::{
        auth::{RevokedTokenStore, RevokedTokens},
        store::StoreError,
    },
    transport::BoxFuture,
};

use crate::{
    connection::{Connection, Reply},
    script::{REVOKE, REVOKED_AFTER},
};

/// The maximum number of tokens returned at once.
const PAGE: u64 = 1000;

/// A [`RevokedTokenStore`] in Redis.
pub struct RedisRevokedTokenStore {
    pub(crate) connection: Arc<Connection>,
    pub(crate) max_tokens: u64,
}

impl RedisRevokedTokenStore {
    fn keys(&self) -> [String; 3] {
        let keys = self.connection.keys();
        let [expiries, positions] = keys.revoked_tokens();
        [keys.generation(), expiries, positions]
    }
}

impl RevokedTokenStore for RedisRevokedTokenStore {
    fn revoke<'a>(
        &'a self,
        token: &'a str,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let call = REVOKE.call(self.keys()).text(token).ttl(ttl);
            let call = call.number(self.max_tokens);
            self.connection.run(call).await?.ok().map(drop)
        })
    }

    fn revoked_after(&self, position: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
        Box::pin(async move {
            let call = REVOKED_AFTER
                .call(self.keys())
                .number(position)
                .number(PAGE);
            let mut reply = self.connection.run(call).await?.ok()?;
            let (position, has_more) = (reply.number()?, reply.number()? == 1);
            let tokens = reply.list()?.into_iter().map(|token| {
                let mut token = Reply::try_from(token)?;
                Ok((token.text()?, Duration::from_millis(token.number()?)))
            });
            let tokens = tokens.collect::<Result<_, StoreError>>()?;
            Ok(RevokedTokens::new(tokens, position, has_more))
        })
    }
}
