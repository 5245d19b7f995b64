//! Operations: like calls, but with any number of requests.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use super::Error;
use crate::{
    proto::client::{CallOptions, CallPolicy},
    transport::BoxFuture,
};

/// An operation on the server that has not been started yet. Set its options, then
/// await it.
///
/// Dropping it before it completes cancels it.
///
/// ```
/// # use bowline::{Client, Error};
/// use std::time::Duration;
///
/// # async fn example(client: &Client) -> Result<(), Error> {
/// let subscribing = client.resources().subscribe("note://today");
/// let today = subscribing.timeout(Duration::from_secs(5)).wait_for_connection().await?;
/// today.unsubscribe().timeout(Duration::from_secs(1)).await?;
/// # Ok(()) }
/// ```
#[must_use = "an operation is only started when it is awaited"]
pub struct Operation<'a, T> {
    options: CallOptions,
    state: OperationState<'a, T>,
}

type StartFn<'a, T> = Box<dyn FnOnce(CallOptions) -> BoxFuture<'a, Result<T, Error>> + Send + 'a>;

enum OperationState<'a, T> {
    NotStarted(StartFn<'a, T>),
    Running(BoxFuture<'a, Result<T, Error>>),
    Done,
}

impl<'a, T> Operation<'a, T> {
    pub(crate) fn new<F>(start: impl FnOnce(CallOptions) -> F + Send + 'a) -> Self
    where
        F: Future<Output = Result<T, Error>> + Send + 'a,
    {
        Self {
            options: CallOptions::default(),
            state: OperationState::NotStarted(Box::new(|options| Box::pin(start(options)))),
        }
    }

    /// Sets how long the server may take to respond.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits for the connection if it is down, within the timeout. Without this, an
    /// operation started while the connection is down fails immediately.
    pub fn wait_for_connection(mut self) -> Self {
        self.options.policy = CallPolicy::WaitForConnection;
        self
    }
}

impl<T> Future for Operation<'_, T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.state, OperationState::NotStarted(_))
            && let OperationState::NotStarted(start) =
                mem::replace(&mut this.state, OperationState::Done)
        {
            this.state = OperationState::Running(start(this.options.clone()));
        }
        let OperationState::Running(work) = &mut this.state else {
            // Polled again after completion.
            return Poll::Pending;
        };
        let result = work.as_mut().poll(cx);
        if result.is_ready() {
            this.state = OperationState::Done;
        }
        result
    }
}

impl<T> fmt::Debug for Operation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
