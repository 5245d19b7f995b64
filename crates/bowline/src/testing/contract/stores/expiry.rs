//! Checks of expiry, for stores that may be slow and have their own clock.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

/// The times to live that are tried, shortest first. A longer one is used if
/// the store is too slow to show anything with a shorter one.
const SHORT_TTLS: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(16),
    Duration::from_secs(64),
];

/// How much later than asked a store may let go of what has expired.
pub(super) const EXPIRY_GRACE: Duration = Duration::from_secs(30);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Whether a timed check has shown something.
pub(super) enum Timing {
    Conclusive,
    /// The operations took so long that the time to live passed meanwhile.
    TooSlow,
}

/// Runs a check with a short time to live, and with longer ones if the store is
/// too slow.
pub(super) async fn with_short_ttl(check: impl AsyncFn(Duration) -> Timing) {
    for ttl in SHORT_TTLS {
        if let Timing::Conclusive = check(ttl).await {
            return;
        }
    }
    let [.., longest] = SHORT_TTLS;
    panic!("the store is too slow to be checked: a ttl of {longest:?} passed within a few calls");
}

/// Polls until `is_over`. Returns whether it was, within the grace period.
pub(super) async fn poll_until(is_over: impl AsyncFn() -> bool) -> bool {
    let end = Instant::now() + EXPIRY_GRACE;
    loop {
        if is_over().await {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Values that are replaced and expire, whatever store they are in.
pub(super) trait Expiring {
    /// What is stored, with an article: `a state`.
    const NAME: &'static str;

    /// Stores the value under the id.
    async fn put(&self, id: &str, value: &'static str, ttl: Duration);

    /// Returns the value under the id.
    async fn get(&self, id: &str) -> Option<String>;
}

/// Checks that values are kept for their time to live, counted from the last
/// write, and not returned afterwards.
pub(super) async fn values_expire<E: Expiring>(store: E) {
    with_short_ttl(async |ttl| values_expire_after(&store, ttl).await).await;
}

async fn values_expire_after<E: Expiring>(store: &E, ttl: Duration) -> Timing {
    let (once, twice) = (super::unique_id(), super::unique_id());
    let written = Instant::now();
    store.put(&once, "once", ttl).await;
    store.put(&twice, "first", ttl).await;
    sleep_until(written + ttl * 3 / 4).await;
    let found = store.get(&once).await;
    let rewritten = Instant::now();
    if rewritten >= written + ttl {
        return Timing::TooSlow;
    }
    assert!(
        found.is_some(),
        "{} was dropped before its ttl had passed",
        E::NAME
    );
    store.put(&twice, "second", ttl).await;
    let is_gone = poll_until(async || store.get(&once).await.is_none()).await;
    assert!(
        is_gone,
        "{} was still returned {EXPIRY_GRACE:?} after its ttl had passed",
        E::NAME
    );
    let found = store.get(&twice).await;
    if Instant::now() >= rewritten + ttl {
        return Timing::TooSlow;
    }
    assert_eq!(
        found.as_deref(),
        Some("second"),
        "{} that was written again was dropped with the ttl of the first write",
        E::NAME
    );
    Timing::Conclusive
}
