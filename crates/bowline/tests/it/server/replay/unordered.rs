//! Many futures at once, of which only those are polled that were woken.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use crate::sync::lock;

/// A future that is one of many.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs all of them, and returns what they return, in the order in which they
/// end, each with its number.
pub(crate) async fn unordered<'a, T>(
    futures: impl IntoIterator<Item = Boxed<'a, T>>,
) -> Vec<(usize, T)> {
    until(futures, |_| false).await
}

/// Runs them until one ends as it should not. The others are dropped then.
pub(crate) async fn until<'a, T>(
    futures: impl IntoIterator<Item = Boxed<'a, T>>,
    stop: impl Fn(&T) -> bool,
) -> Vec<(usize, T)> {
    let futures = futures.into_iter().enumerate();
    let mut open: Vec<_> = futures
        .map(|(number, future)| (number, future, Arc::new(Woken::default())))
        .collect();
    let mut ended = Vec::new();
    poll_fn(|cx| {
        let mut over = false;
        open.retain_mut(|(number, future, woken)| {
            if over {
                return true;
            }
            match woken.poll(future.as_mut(), cx) {
                Poll::Ready(value) => {
                    over = stop(&value);
                    ended.push((*number, value));
                    false
                }
                Poll::Pending => true,
            }
        });
        match over || open.is_empty() {
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
        *lock(&self.parent) = Some(cx.waker().clone());
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
        let parent = lock(&self.parent);
        if let Some(parent) = parent.as_ref() {
            parent.wake_by_ref();
        }
    }
}
