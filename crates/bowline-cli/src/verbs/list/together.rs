//! Waiting for several things at once.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// Does all of it at once, and gives the results in order.
pub(crate) async fn together<T>(work: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = work.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut all = true;
        for (work, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_none() {
                match Pin::as_mut(work).poll(cx) {
                    Poll::Ready(result) => *done = Some(result),
                    Poll::Pending => all = false,
                }
            }
        }
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::together;

    #[tokio::test]
    async fn results_come_in_order_whoever_is_first() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut sender = Some(sender);
        let mut receiver = Some(receiver);
        let work = (0..2).map(|number| {
            let (wait, wake) = match number {
                0 => (receiver.take(), None),
                _ => (None, sender.take()),
            };
            async move {
                if let Some(wait) = wait {
                    wait.await.expect("the other is there");
                }
                if let Some(wake) = wake {
                    wake.send(()).expect("the first waits");
                }
                number
            }
        });
        assert_eq!(together(work).await, [0, 1]);
    }
}
