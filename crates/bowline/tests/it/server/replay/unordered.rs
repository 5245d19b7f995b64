//! Many futures at once, of which only those are polled that were woken.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Runs all of them, and returns what they return in the order in which they
/// end. A future that is not woken is not polled.
pub(crate) async fn unordered<T>(
    futures: impl IntoIterator<Item = Pin<Box<dyn Future<Output = T> + Send + '_>>>,
) -> Vec<T> {
    let mut open: Vec<_> = futures
        .into_iter()
        .map(|future| (future, Arc::new(Woken::default())))
        .collect();
    let mut ended = Vec::new();
    poll_fn(|cx| {
        open.retain_mut(|(future, woken)| match woken.poll(future.as_mut(), cx) {
            Poll::Ready(value) => {
                ended.push(value);
                false
            }
            Poll::Pending => true,
        });
        match open.is_empty() {
            true => Poll::Ready(std::mem::take(&mut ended)),
            false => Poll::Pending,
        }
    })
    .await
}

/// Whether a future was woken since it was polled.
#[derive(Default)]
struct Woken {
    polled: AtomicBool,
    parent: Mutex<Option<Waker>>,
}

impl Woken {
    fn poll<T>(
        self: &Arc<Self>,
        future: Pin<&mut (dyn Future<Output = T> + Send + '_)>,
        cx: &mut Context<'_>,
    ) -> Poll<T> {
        *self.parent.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if self.polled.swap(true, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(self));
        future.poll(&mut Context::from_waker(&waker))
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.polled.store(false, Ordering::Release);
        let parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parent) = parent.as_ref() {
            parent.wake_by_ref();
        }
    }
}
