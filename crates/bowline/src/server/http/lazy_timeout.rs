//! A timeout that sets no timer if the result is ready soon.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, error::Elapsed, timeout_at};

/// Waits for a result that is likely ready once other tasks have run: a request
/// body, which hyper yields only after it is polled, or the first output of a
/// tool whose task just started.
///
/// The limit is queried again once it has passed.
pub(super) async fn with_lazy_timeout<T>(
    limit: impl Fn() -> Duration,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let mut was_polled = false;
    let first = poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        if was_polled {
            return Poll::Ready(None);
        }
        was_polled = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    match first.await {
        Some(output) => Ok(output),
        // Boxed: most calls do not need it.
        None => Box::pin(poll_with_timeout(limit, work)).await,
    }
}

/// Waits up to the current limit, which may grow.
async fn poll_with_timeout<T>(
    limit: impl Fn() -> Duration,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Elapsed> {
    let started = Instant::now();
    loop {
        let deadline = started + limit();
        match timeout_at(deadline, work.as_mut()).await {
            Ok(output) => return Ok(output),
            Err(elapsed) if started + limit() <= deadline => return Err(elapsed),
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
        let started = Instant::now();
        let never = std::future::pending::<()>;
        assert!(with_lazy_timeout(|| LIMIT, never()).await.is_err());
        assert_eq!(started.elapsed(), LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had() {
        let late = || async {
            tokio::time::sleep(LIMIT / 2).await;
            7
        };
        assert_eq!(with_lazy_timeout(|| LIMIT, late()).await, Ok(7));
        assert_eq!(with_lazy_timeout(|| LIMIT, async { 7 }).await, Ok(7));
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
        let started = Instant::now();
        let limit = || 2 * LIMIT + LIMIT * progress.get().min(5);
        assert!(with_lazy_timeout(limit, work).await.is_err());
        assert_eq!(started.elapsed(), 7 * LIMIT);
    }
}
