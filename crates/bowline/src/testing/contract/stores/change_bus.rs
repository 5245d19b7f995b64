//! The contract of change buses.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::timeout;

use super::{Nodes, OPERATION_TIMEOUT, WRITERS, succeed, unique_id};
use crate::server::changes::{ChangeBus, ChangeSubscription, ReceivedChange};

/// Checks that a [`ChangeBus`] does what the nodes of a server rely on.
///
/// 1. What is published after a subscription was made arrives there, whole, at every
///    connection; or else the subscription is told that it missed something.
/// 2. A subscription that does not read in time is told that it missed something, or
///    receives everything.
///
/// `connect` returns one node's connection to the bus; see the
/// [module](crate::testing::contract).
///
/// # Panics
///
/// Panics if the bus breaks the contract, fails, or does not respond.
pub async fn change_bus<B: ChangeBus + ?Sized>(connect: impl AsyncFn() -> Arc<B>) {
    let nodes = Nodes::connect(connect).await;
    arrives_whole(&nodes).await;
    nothing_is_missed_unnoticed(&nodes).await;
}

async fn arrives_whole<B: ChangeBus + ?Sized>(nodes: &Nodes<B>) {
    let mut here = succeed("subscribe", nodes.first().subscribe()).await;
    let mut there = succeed("subscribe", nodes.second().subscribe()).await;
    let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
    for change in [unique_id().into_bytes(), Vec::new(), bytes] {
        let change = Bytes::from(change);
        succeed("publish", nodes.first().publish(change.clone())).await;
        for subscription in [&mut here, &mut there] {
            assert!(
                is_received(subscription, &change).await,
                "a change did not arrive, and the subscription was not told that it missed one"
            );
        }
    }
}

/// More changes than anyone keeps for a subscription that does not read.
async fn nothing_is_missed_unnoticed<B: ChangeBus + ?Sized>(nodes: &Nodes<B>) {
    let mut slow = succeed("subscribe", nodes.second().subscribe()).await;
    let changes: Vec<Bytes> = (0..WRITERS * 512).map(|_| unique_id().into()).collect();
    for change in &changes {
        succeed("publish", nodes.first().publish(change.clone())).await;
    }
    for change in &changes {
        match next(&mut slow).await {
            Some(ReceivedChange::Missed) => return,
            received => assert_eq!(
                received,
                Some(ReceivedChange::Change(change.clone())),
                "a slow subscription missed a change and was not told so"
            ),
        }
    }
}

/// Reads until the change arrives, or the subscription may have missed it.
async fn is_received(subscription: &mut Box<dyn ChangeSubscription>, change: &Bytes) -> bool {
    loop {
        match next(subscription).await {
            Some(ReceivedChange::Change(received)) if received == *change => return true,
            // Those of other tests arrive, too.
            Some(ReceivedChange::Change(_)) => {}
            Some(ReceivedChange::Missed) => return true,
            None => return false,
        }
    }
}

/// Returns the next change, or `None` if there is none for a long time. The end of a
/// subscription says that changes may have been missed.
async fn next(subscription: &mut Box<dyn ChangeSubscription>) -> Option<ReceivedChange> {
    let next = timeout(OPERATION_TIMEOUT, subscription.next()).await.ok()?;
    Some(next.unwrap_or(ReceivedChange::Missed))
}
