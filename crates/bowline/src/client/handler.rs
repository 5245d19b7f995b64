//! Handlers that are called with each notification.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    notification::{Notification, Notifications},
    shared::Shared,
};
use crate::{
    catch_panic::{CatchPanic, Panicked},
    proto::client::TelemetryEvent,
    transport::BoxFuture,
};

/// A function that is called with each notification.
pub(crate) type Handler = Box<dyn FnMut(Notification) -> BoxFuture<'static, ()> + Send>;

/// Calls every handler with every notification, in order, until the connection ends. A
/// slow handler delays the other handlers but no responses.
pub(crate) async fn run(
    shared: Arc<Shared>,
    mut notifications: Notifications,
    mut handlers: Vec<Handler>,
) {
    while let Some(notification) = notifications.next().await {
        for handler in &mut handlers {
            // A handler that panics misses this notification and receives the next.
            let called = catch_unwind(AssertUnwindSafe(|| handler(notification.clone())));
            let result = match called {
                Ok(future) => CatchPanic(future).await,
                Err(payload) => Err(Panicked::new(&*payload)),
            };
            if let Err(Panicked(error)) = result {
                let method = notification.method().into();
                shared.observe(TelemetryEvent::HandlerException { method, error });
            }
        }
    }
}
