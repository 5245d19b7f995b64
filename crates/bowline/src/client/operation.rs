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
    stage: Stage<'a, T>,
}

type Begin<'a, T> = Box<dyn FnOnce(CallOptions) -> BoxFuture<'a, Result<T, Error>> + Send + 'a>;

enum Stage<'a, T> {
    Asked(Begin<'a, T>),
    UnderWay(BoxFuture<'a, Result<T, Error>>),
    Over,
}

impl<'a, T> Operation<'a, T> {
    pub(crate) fn new<F>(begin: impl FnOnce(CallOptions) -> F + Send + 'a) -> Self
    where
        F: Future<Output = Result<T, Error>> + Send + 'a,
    {
        Self {
            options: CallOptions::default(),
            stage: Stage::Asked(Box::new(|options| Box::pin(begin(options)))),
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
        self.options.policy = CallPolicy::WaitReady;
        self
    }
}

impl<T> Future for Operation<'_, T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.stage, Stage::Asked(_))
            && let Stage::Asked(begin) = mem::replace(&mut this.stage, Stage::Over)
        {
            this.stage = Stage::UnderWay(begin(this.options.clone()));
        }
        let Stage::UnderWay(work) = &mut this.stage else {
            // Nobody should ask again.
            return Poll::Pending;
        };
        let ended = work.as_mut().poll(cx);
        if ended.is_ready() {
            this.stage = Stage::Over;
        }
        ended
    }
}

impl<T> fmt::Debug for Operation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
