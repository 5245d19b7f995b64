//! Waiting for no longer than one may, without a timer for what is there.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, error::Elapsed, timeout_at};

/// Waits for what is likely to be there once others had their turn: the body of
/// a request, which a server hands out only after somebody asked, or what a tool
/// says whose task has just begun.
///
/// The limit is asked again when it has passed.
pub(super) async fn soon<T>(
    limit: impl Fn() -> Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
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
        None => Box::pin(within(limit, work)).await,
    }
}

/// Waits for as long as is allowed by now, which may become more.
async fn within<T>(
    limit: impl Fn() -> Duration,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Elapsed> {
    let began = Instant::now();
    loop {
        let until = began + limit();
        match timeout_at(until, work.as_mut()).await {
            Ok(done) => return Ok(done),
            Err(elapsed) if began + limit() <= until => return Err(elapsed),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_is_waited_for_as_long_as_allowed() {
        let began = Instant::now();
        let never = std::future::pending::<()>;
        assert!(soon(|| LIMIT, never()).await.is_err());
        assert_eq!(began.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had() {
        let late = || async {
            tokio::time::sleep(LIMIT / 2).await;
            7
        };
        assert_eq!(soon(|| LIMIT, late()).await, Ok(7));
        assert_eq!(soon(|| LIMIT, async { 7 }).await, Ok(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_grows_is_asked_again() {
        let progress = Cell::new(0);
        let work = async {
            for _ in 0..10 {
                tokio::time::sleep(LIMIT).await;
                progress.set(progress.get() + 1);
            }
        };
        let began = Instant::now();
        let limit = || 2 * LIMIT + LIMIT * progress.get().min(5);
        assert!(soon(limit, work).await.is_err());
        assert_eq!(began.elapsed(), 7 * LIMIT);
    }
}
