//! Waiting for a connection, with a limit.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use super::{Client, Error, Health};
use crate::proto::client::ConnectionState;

/// The default time to wait for a connection between two attempts.
pub(crate) const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How soon the next attempt follows one that failed only because the server's era was
/// not yet known.
const IMMEDIATE_RETRY_WINDOW: Duration = Duration::from_millis(50);

/// Waits until a session is open. An attempt in progress is awaited until it succeeds
/// or fails, which the client's opening timeout bounds; the next attempt is awaited for
/// at most `max_wait`.
///
/// # Errors
///
/// Returns an error if that attempt fails, the next one is too far off, or the
/// connection has ended.
pub(crate) async fn wait_connected(client: &Client, max_wait: Duration) -> Result<(), Error> {
    let mut health = client.watch_health();
    let before = health.borrow_and_update().clone();
    if before.state == ConnectionState::Ready {
        return Ok(());
    }
    let is_waiting =
        |now: &Health| now.state == ConnectionState::Backoff && !attempt_ended(&before, now);
    let next = health.wait_for(|now| !is_waiting(now));
    if timeout(max_wait, next).await.is_err() {
        return Err(before.not_connected_error(max_wait));
    }
    wait_attempt_end(&mut health, &before).await;
    let failed = health.borrow_and_update().clone();
    if failed.state == ConnectionState::Ready {
        return Ok(());
    }
    if !failed.ended && retries_immediately(&mut health).await {
        wait_attempt_end(&mut health, &failed).await;
    }
    let now = health.borrow().clone();
    match now.state {
        ConnectionState::Ready => Ok(()),
        _ => Err(now.not_connected_error(max_wait)),
    }
}

/// Returns whether the next attempt follows immediately.
async fn retries_immediately(health: &mut watch::Receiver<Health>) -> bool {
    let retry = health.wait_for(|now| now.state != ConnectionState::Backoff);
    timeout(IMMEDIATE_RETRY_WINDOW, retry).await.is_ok()
}

/// Waits until the attempt has succeeded or failed.
async fn wait_attempt_end(health: &mut watch::Receiver<Health>, before: &Health) {
    let is_done = |now: &Health| {
        let failed = now.state == ConnectionState::Backoff && attempt_ended(before, now);
        failed || now.state == ConnectionState::Ready || now.ended
    };
    // The caller's client keeps the sender alive.
    let _ = health.wait_for(is_done).await;
}

/// Returns whether an attempt, a session or the connection has ended since `before`.
fn attempt_ended(before: &Health, now: &Health) -> bool {
    now.ended
        || now.consecutive_failures > before.consecutive_failures
        || now.sessions > before.sessions
}
