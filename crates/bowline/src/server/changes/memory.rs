//! Between the nodes of one process.

use bytes::Bytes;
use tokio::sync::broadcast::{self, error::RecvError};

use super::{ChangeBus, ChangeSubscription, ReceivedChange};
use crate::{server::store::StoreError, transport::BoxFuture};

/// How many changes a slow subscription may be behind.
const CAPACITY: usize = 1024;

/// A [`ChangeBus`] for nodes in one process, as in tests. Clones share it.
#[derive(Clone, Debug)]
pub struct MemoryChangeBus(broadcast::Sender<Bytes>);

impl Default for MemoryChangeBus {
    fn default() -> Self {
        Self(broadcast::channel(CAPACITY).0)
    }
}

impl ChangeBus for MemoryChangeBus {
    fn publish<'a>(&'a self, change: Bytes) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // It fails if nobody is subscribed.
            let _ = self.0.send(change);
            Ok(())
        })
    }

    fn subscribe<'a>(&'a self) -> BoxFuture<'a, Result<Box<dyn ChangeSubscription>, StoreError>> {
        let subscription: Box<dyn ChangeSubscription> = Box::new(self.0.subscribe());
        Box::pin(async { Ok(subscription) })
    }
}

impl ChangeSubscription for broadcast::Receiver<Bytes> {
    fn next(&mut self) -> BoxFuture<'_, Option<ReceivedChange>> {
        Box::pin(async {
            match self.recv().await {
                Ok(change) => Some(ReceivedChange::Change(change)),
                Err(RecvError::Lagged(_)) => Some(ReceivedChange::Missed),
                Err(RecvError::Closed) => None,
            }
        })
    }
}
