//! Changes that nodes tell each other.

use std::{future::poll_fn, pin::Pin, sync::Arc, time::Duration};

use bowline::{
    server::{
        changes::{ChangeBus, ChangeSubscription, ReceivedChange},
        store::StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;
use futures_core::Stream as _;
use redis::{
    Msg, RedisError,
    aio::{PubSubSink, PubSubStream},
    cmd,
};
use tokio::time::{sleep, timeout};

use crate::connection::Connection;

/// How often a silent connection is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// A [`ChangeBus`] in Redis: messages of one channel.
///
/// Redis disconnects a subscriber that does not read (`client-output-buffer-limit`), and
/// whoever is disconnected may have missed changes.
pub struct RedisChangeBus {
    pub(crate) connection: Arc<Connection>,
}

impl ChangeBus for RedisChangeBus {
    fn publish<'a>(&'a self, change: Bytes) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut publish = cmd("PUBLISH");
            publish.arg(self.connection.keys().changes()).arg(&*change);
            self.connection.query(&publish).await.map(drop)
        })
    }

    fn subscribe<'a>(&'a self) -> BoxFuture<'a, Result<Box<dyn ChangeSubscription>, StoreError>> {
        Box::pin(async move {
            let limit = self.connection.timeout();
            let subscribe = async {
                let (mut sink, stream) = self.connection.subscriber().await?.split();
                sink.subscribe(self.connection.keys().changes()).await?;
                Ok((sink, stream))
            };
            let subscribed = timeout(limit, subscribe).await;
            let subscribed = subscribed.unwrap_or_else(|_| Err(timed_out()));
            let (sink, stream) = subscribed.map_err(|error| {
                StoreError::new("cannot subscribe to changes in Redis").with_source(error)
            })?;
            let subscription: Box<dyn ChangeSubscription> = Box::new(Subscription {
                sink,
                stream,
                limit,
            });
            Ok(subscription)
        })
    }
}

fn timed_out() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

/// A connection of its own.
struct Subscription {
    sink: PubSubSink,
    stream: PubSubStream,
    limit: Duration,
}

impl Subscription {
    async fn message(&mut self) -> Option<Msg> {
        poll_fn(|cx| Pin::new(&mut self.stream).poll_next(cx)).await
    }
}

impl ChangeSubscription for Subscription {
    fn next(&mut self) -> BoxFuture<'_, Option<ReceivedChange>> {
        Box::pin(async move {
            loop {
                tokio::select! {
                    message = self.message() => {
                        let change = message?.get_payload_bytes().to_vec();
                        return Some(ReceivedChange::Change(change.into()));
                    }
                    () = sleep(CHECK_INTERVAL) => {}
                }
                // A connection that is gone does not always say so.
                let check = self.sink.ping::<redis::Value>();
                timeout(self.limit, check).await.ok()?.ok()?;
            }
        })
    }
}
