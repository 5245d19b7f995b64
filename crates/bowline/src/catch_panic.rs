//! Running foreign code so that its panics are contained.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use crate::transport::BoxFuture;

/// A future that returns panics as errors.
pub(crate) struct CatchPanic<T>(pub(crate) BoxFuture<'static, T>);

/// A panic, with its message. The panic hook has already printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panicked(pub(crate) Box<str>);

impl Panicked {
    /// Extracts the message from the payload, if it is a string.
    pub(crate) fn new(payload: &(dyn Any + Send)) -> Self {
        let literal = payload.downcast_ref::<&str>().copied();
        let text = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self(text.unwrap_or("it panicked").into())
    }
}

impl<T> Future for CatchPanic<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(Panicked::new(&*payload))),
        }
    }
}
