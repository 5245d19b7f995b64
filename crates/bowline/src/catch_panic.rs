//! Code that is not ours, run so that its panics stay inside.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use crate::transport::BoxFuture;

/// A future whose panics become a result.
pub(crate) struct CatchPanic<T>(pub(crate) BoxFuture<'static, T>);

/// It panicked, with this message. The panic hook has printed it already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panicked(pub(crate) Box<str>);

impl Panicked {
    /// What a panic brought along says what went wrong, if it is a text.
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
