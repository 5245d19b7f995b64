//! Functions that are called with each notification.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    notification::{Notification, Notifications},
    shared::Shared,
};
use crate::{proto::client::Telemetry, transport::BoxFuture};

/// A function that is called with each notification.
pub(crate) type Handler = Box<dyn FnMut(Notification) -> BoxFuture<'static, ()> + Send>;

/// Calls every handler with every notification, in order, until the connection
/// is over. A slow handler delays the others, and never an answer.
pub(crate) async fn run(
    shared: Arc<Shared>,
    mut notifications: Notifications,
    mut handlers: Vec<Handler>,
) {
    while let Some(notification) = notifications.next().await {
        for handler in &mut handlers {
            // One that panics misses this notification and gets the next.
            let called = catch_unwind(AssertUnwindSafe(|| handler(notification.clone())));
            let sound = match called {
                Ok(work) => Contained(work).await,
                Err(_) => false,
            };
            if !sound {
                let method = notification.method().into();
                shared.host.observe(&Telemetry::HandlerException { method });
            }
        }
    }
}

/// A future of the host's whose panics stay inside. Says whether there was
/// none.
struct Contained(BoxFuture<'static, ()>);

impl Future for Contained {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx)));
        match polled {
            Ok(polled) => polled.map(|()| true),
            Err(_) => Poll::Ready(false),
        }
    }
}
