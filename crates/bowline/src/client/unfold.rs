//! A stream made from a function that returns one item at a time.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use crate::transport::BoxFuture;

type Step<S, T> = BoxFuture<'static, Option<(T, S)>>;

/// Calls `next` for an item and the next state until it returns none.
pub(crate) struct Unfold<S, T, F> {
    next: F,
    step: Option<Step<S, T>>,
}

impl<S, T, F, Fut> Unfold<S, T, F>
where
    F: FnMut(S) -> Fut,
    Fut: Future<Output = Option<(T, S)>> + Send + 'static,
{
    pub(crate) fn new(state: S, mut next: F) -> Self {
        let step = Some(Box::pin(next(state)) as Step<S, T>);
        Self { next, step }
    }
}

impl<S, T, F, Fut> Stream for Unfold<S, T, F>
where
    F: FnMut(S) -> Fut + Unpin,
    Fut: Future<Output = Option<(T, S)>> + Send + 'static,
{
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        let Some(step) = &mut this.step else {
            return Poll::Ready(None);
        };
        let stepped = ready!(step.as_mut().poll(cx));
        let (item, state) = match stepped {
            Some((item, state)) => (Some(item), Some(state)),
            None => (None, None),
        };
        this.step = state.map(|state| Box::pin((this.next)(state)) as Step<S, T>);
        Poll::Ready(item)
    }
}
