//! What ends like a call and takes more than one, or none.

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

/// Something to be asked of the server that has not been yet: say how, then
/// await it.
///
/// Dropping it before its end gives it up.
///
/// ```
/// # use bowline::{Client, Error};
/// use std::time::Duration;
///
/// # async fn example(client: &Client) -> Result<(), Error> {
/// let subscribing = client.resources().subscribe("note://today");
/// let today = subscribing.timeout(Duration::from_secs(5)).wait_for_connection().await?;
/// today.end().timeout(Duration::from_secs(1)).await?;
/// # Ok(()) }
/// ```
#[must_use = "nothing is asked before it is awaited"]
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

    /// Gives the server this long to answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits for the connection, if it is down, within the time that there is.
    /// Otherwise it fails at once.
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
            // Nobody should ask again.
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
