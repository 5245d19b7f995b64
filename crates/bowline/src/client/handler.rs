//! Functions that are called with each notification.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use super::notification::{Notification, Notifications};
use crate::transport::BoxFuture;

/// A function that is called with each notification.
pub(crate) type Handler = Box<dyn FnMut(Notification) -> BoxFuture<'static, ()> + Send>;

/// Calls every handler with every notification, in order, until the connection
/// is over. A slow handler delays the others, and never an answer.
pub(crate) async fn run(mut notifications: Notifications, mut handlers: Vec<Handler>) {
    while let Some(notification) = notifications.next().await {
        for handler in &mut handlers {
            // One that panics misses this notification and gets the next.
            let called = catch_unwind(AssertUnwindSafe(|| handler(notification.clone())));
            if let Ok(work) = called {
                Contained(work).await;
            }
        }
    }
}

/// A future of the host's whose panics stay inside.
struct Contained(BoxFuture<'static, ()>);

impl Future for Contained {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx)));
        polled.unwrap_or(Poll::Ready(()))
    }
}
