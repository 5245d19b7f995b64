//! Waiting for no longer than one may, without a timer for what is there.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::time::{error::Elapsed, timeout};

/// Waits for something that may be there already.
pub(super) async fn at_most<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    within(limit, 1, work).await
}

/// Waits for the body of a request. A server hands out what it has of that only
/// after somebody asked, so that it is not there at the first look.
pub(super) async fn while_it_arrives<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    within(limit, 2, work).await
}

/// Looks so many times before the time is taken.
async fn within<T>(
    limit: Duration,
    mut looks: u32,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let there = poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        looks -= 1;
        if looks == 0 {
            return Poll::Ready(None);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    match there.await {
        Some(done) => Ok(done),
        None => timeout(limit, work).await,
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
        assert!(at_most(LIMIT, never()).await.is_err());
        assert_eq!(began.elapsed(), LIMIT);
        assert!(while_it_arrives(LIMIT, never()).await.is_err());
        assert_eq!(began.elapsed(), 2 * LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had() {
        let late = || async {
            tokio::time::sleep(LIMIT / 2).await;
            7
        };
        assert_eq!(at_most(LIMIT, late()).await, Ok(7));
        assert_eq!(while_it_arrives(LIMIT, late()).await, Ok(7));
        assert_eq!(at_most(LIMIT, async { 7 }).await, Ok(7));
    }
}
