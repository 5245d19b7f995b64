//! Batches of requests with limited concurrency.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll},
};

use serde::Serialize;

use super::{Client, Error};
use crate::{
    proto::model::{CallToolResult, ReadResourceResult},
    transport::BoxFuture,
};

/// The default number of concurrent requests.
const DEFAULT_CONCURRENCY: usize = 8;

/// Requests that have not been sent yet. Awaiting the batch returns the results in the
/// order of the requests; a failed request does not stop the others.
///
/// Dropping the future cancels the requests in progress and does not start the rest.
#[must_use = "requests are only sent when they are awaited"]
pub struct Batch<'a, T> {
    futures: Vec<BoxFuture<'a, T>>,
    max_concurrent: usize,
}

/// Calls several tools of one server.
///
/// ```no_run
/// # async fn example(client: bowline::Client) {
/// use bowline::registry::call_many;
/// use serde_json::json;
///
/// let cities = ["Lisbon", "Oslo", "Lima"];
/// let calls = cities.map(|city| ("forecast", json!({ "city": city })));
/// for (city, forecast) in cities.iter().zip(call_many(&client, calls).max_concurrent(2).await) {
///     match forecast {
///         Ok(forecast) => println!("{city}: {forecast:?}"),
///         Err(error) => println!("{city}: {error}"),
///     }
/// }
/// # }
/// ```
pub fn call_many<'a, N: AsRef<str>, A: Serialize>(
    client: &'a Client,
    calls: impl IntoIterator<Item = (N, A)>,
) -> Batch<'a, Result<CallToolResult, Error>> {
    let calls = calls.into_iter();
    Batch::new(calls.map(|(tool, arguments)| {
        let call = client.tools().call(tool.as_ref(), arguments);
        Box::pin(call.into_future()) as BoxFuture<'_, _>
    }))
}

/// Reads several resources of one server.
pub fn read_many<'a, U: AsRef<str>>(
    client: &'a Client,
    uris: impl IntoIterator<Item = U>,
) -> Batch<'a, Result<ReadResourceResult, Error>> {
    let uris = uris.into_iter();
    Batch::new(uris.map(|uri| {
        let read = client.resources().read(uri.as_ref());
        Box::pin(read.into_future()) as BoxFuture<'_, _>
    }))
}

impl<'a, T> Batch<'a, T> {
    pub(crate) fn new(futures: impl IntoIterator<Item = BoxFuture<'a, T>>) -> Self {
        Self {
            futures: futures.into_iter().collect(),
            max_concurrent: DEFAULT_CONCURRENCY,
        }
    }

    /// Sets the maximum number of concurrent requests: 8 by default. Zero counts as
    /// one.
    pub fn max_concurrent(mut self, requests: usize) -> Self {
        self.max_concurrent = requests.max(1);
        self
    }
}

impl<'a, T: Send + 'a> IntoFuture for Batch<'a, T> {
    type Output = Vec<T>;
    type IntoFuture = BoxFuture<'a, Vec<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(BatchFuture {
            results: self.futures.iter().map(|_| None).collect(),
            waiting: self.futures.into_iter().enumerate(),
            active: Vec::new(),
            max_concurrent: self.max_concurrent,
        })
    }
}

impl<T> fmt::Debug for Batch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("requests", &self.futures.len())
            .field("max_concurrent", &self.max_concurrent)
            .finish()
    }
}

/// The running batch. Every wake-up polls all futures in progress, which is cheap for a
/// sensible number of them.
struct BatchFuture<'a, T> {
    waiting: std::iter::Enumerate<std::vec::IntoIter<BoxFuture<'a, T>>>,
    active: Vec<(usize, BoxFuture<'a, T>)>,
    results: Vec<Option<T>>,
    max_concurrent: usize,
}

/// The futures are pinned in their boxes, and the results are never pinned.
impl<T> Unpin for BatchFuture<'_, T> {}

impl<T> BatchFuture<'_, T> {
    /// Polls all futures in progress. Returns whether one completed.
    fn poll_active(&mut self, cx: &mut Context<'_>) -> bool {
        let before = self.active.len();
        let results = &mut self.results;
        self.active.retain_mut(|(index, future)| {
            let Poll::Ready(result) = future.as_mut().poll(cx) else {
                return true;
            };
            results[*index] = Some(result);
            false
        });
        self.active.len() < before
    }
}

impl<T> Future for BatchFuture<'_, T> {
    type Output = Vec<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<T>> {
        let this = &mut *self;
        loop {
            let capacity = this.max_concurrent - this.active.len();
            this.active.extend(this.waiting.by_ref().take(capacity));
            if this.active.is_empty() {
                // Every slot was filled when its future completed.
                let results = std::mem::take(&mut this.results);
                return Poll::Ready(results.into_iter().flatten().collect());
            }
            // Completed futures made room for new ones, which have not been polled yet.
            if !this.poll_active(cx) {
                return Poll::Pending;
            }
        }
    }
}
