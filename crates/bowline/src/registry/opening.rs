//! Waiting for a connection, but not for ever.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use crate::{
    client::{Client, Error, Health},
    proto::client::StateName,
};

/// How long to wait for a connection that is between two attempts, unless set.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How soon a connection tries again whose attempt failed only because it did
/// not know yet which era the server speaks.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Waits until a session is open. An attempt that is under way is waited for
/// until it has succeeded or failed, which the client's opening time bounds;
/// the next attempt is waited for no longer than `patience`.
///
/// # Errors
///
/// Where that attempt fails, the next one is too far off, or the connection is
/// over.
pub(crate) async fn open(client: &Client, patience: Duration) -> Result<(), Error> {
    let mut health = client.watch_health();
    let before = health.borrow_and_update().clone();
    if before.state == StateName::Ready {
        return Ok(());
    }
    let waits = |now: &Health| now.state == StateName::Backoff && !news(&before, now);
    let next = health.wait_for(|now| !waits(now));
    if timeout(patience, next).await.is_err() {
        return Err(before.not_open(patience));
    }
    settle(&mut health, &before).await;
    let failed = health.borrow_and_update().clone();
    if failed.state == StateName::Ready {
        return Ok(());
    }
    if !failed.ended && tries_again(&mut health).await {
        settle(&mut health, &failed).await;
    }
    let now = health.borrow().clone();
    match now.state {
        StateName::Ready => Ok(()),
        _ => Err(now.not_open(patience)),
    }
}

/// Whether the next attempt follows at once.
async fn tries_again(health: &mut watch::Receiver<Health>) -> bool {
    let again = health.wait_for(|now| now.state != StateName::Backoff);
    timeout(AT_ONCE, again).await.is_ok()
}

/// Waits until the attempt has succeeded or failed.
async fn settle(health: &mut watch::Receiver<Health>, before: &Health) {
    let settled = |now: &Health| {
        let failed = now.state == StateName::Backoff && news(before, now);
        failed || now.state == StateName::Ready || now.ended
    };
    // The client that the caller has keeps the sender alive.
    let _ = health.wait_for(settled).await;
}

/// Whether something has ended since: an attempt, a session, the connection.
fn news(before: &Health, now: &Health) -> bool {
    now.ended || now.failures > before.failures || now.sessions > before.sessions
}
