//! Waiting for no longer than one may, without a timer for what is there.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::time::{error::Elapsed, timeout};

/// Waits for what is likely to be there once others had their turn: the body of
/// a request, which a server hands out only after somebody asked, or what a tool
/// says whose task has just begun.
pub(super) async fn soon<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let mut again = false;
    let there = poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        if again {
            return Poll::Ready(None);
        }
        again = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    match there.await {
        Some(done) => Ok(done),
        // In a box, which most do without.
        None => Box::pin(timeout(limit, work)).await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_is_waited_for_as_long_as_allowed() {
        let began = Instant::now();
        let never = std::future::pending::<()>;
        assert!(soon(LIMIT, never()).await.is_err());
        assert_eq!(began.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had() {
        let late = || async {
            tokio::time::sleep(LIMIT / 2).await;
            7
        };
        assert_eq!(soon(LIMIT, late()).await, Ok(7));
        assert_eq!(soon(LIMIT, async { 7 }).await, Ok(7));
    }
}
