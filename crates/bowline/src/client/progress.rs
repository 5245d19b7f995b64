//! Progress reports of a call, and the channel that delivers them.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;

use super::unfold::Unfold;
use crate::proto::model::{Extra, ProgressParams};

use crate::sync;

/// The maximum number of reports buffered for a slow receiver. Beyond it the oldest are
/// dropped.
const MAX_BUFFERED: usize = 64;

/// The maximum size of the buffered reports, in bytes. A single report may exceed it.
const MAX_BUFFERED_BYTES: usize = 256 * 1024;

/// The estimated overhead of a member of a report, in bytes.
const MEMBER_OVERHEAD: usize = 64;

/// Creates a channel for the progress of a call; see
/// [`Call::progress_to`](super::Call::progress_to).
///
/// The channel is bounded: if the server reports faster than you receive, the oldest
/// reports are dropped in favor of the newest, and [`ProgressReceiver::lost`] returns
/// how many.
///
/// ```
/// # use bowline::{Client, Error};
/// use bowline::client::progress_channel;
///
/// # async fn example(client: &Client) -> Result<(), Error> {
/// let (sender, mut progress) = progress_channel();
/// let watching = tokio::spawn(async move {
///     while let Some(step) = progress.recv().await {
///         println!("{} of {:?}", step.progress, step.total);
///     }
/// });
/// client.tools().call("climb", serde_json::json!({})).progress_to(sender).await?;
/// # drop(watching);
/// # Ok(()) }
/// ```
#[must_use]
pub fn progress_channel() -> (ProgressSender, ProgressReceiver) {
    let state = State {
        senders: 1,
        ..State::default()
    };
    let shared = Arc::new(Mutex::new(state));
    let sender = ProgressSender(Arc::clone(&shared));
    (sender, ProgressReceiver(shared))
}

/// The sending half of a [`progress_channel`].
pub struct ProgressSender(Arc<Mutex<State>>);

/// The receiving half of a [`progress_channel`].
pub struct ProgressReceiver(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    buffered: VecDeque<ProgressParams>,
    bytes: usize,
    lost: u64,
    senders: usize,
    /// The receiver was dropped.
    is_closed: bool,
    waker: Option<Waker>,
}

impl ProgressSender {
    /// Buffers a report. Returns the waker to call once no lock is held, because it
    /// runs foreign code.
    #[must_use]
    pub(crate) fn send(&self, progress: ProgressParams) -> Option<Waker> {
        let mut state = sync::lock(&self.0);
        if state.is_closed {
            return None;
        }
        state.push(progress);
        state.waker.take()
    }
}

impl Clone for ProgressSender {
    fn clone(&self) -> Self {
        sync::lock(&self.0).senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for ProgressSender {
    fn drop(&mut self) {
        let mut state = sync::lock(&self.0);
        state.senders -= 1;
        if state.senders == 0 {
            wake(state);
        }
    }
}

impl ProgressReceiver {
    /// Receives the oldest buffered report, or `None` once all calls that report here
    /// have ended.
    pub async fn recv(&mut self) -> Option<ProgressParams> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Polls for the next report; see [`recv`](Self::recv).
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<ProgressParams>> {
        let mut state = sync::lock(&self.0);
        if let Some(next) = state.pop() {
            return Poll::Ready(Some(next));
        }
        if state.senders == 0 {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns how many reports were dropped so far because newer ones arrived first.
    #[must_use]
    pub fn lost(&self) -> u64 {
        sync::lock(&self.0).lost
    }

    /// Converts the receiver into a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = ProgressParams> + Send {
        Unfold::new(self, async |mut receiver| {
            let next = receiver.recv().await?;
            Some((next, receiver))
        })
    }
}

impl Drop for ProgressReceiver {
    fn drop(&mut self) {
        let mut state = sync::lock(&self.0);
        state.is_closed = true;
        state.buffered = VecDeque::new();
    }
}

impl State {
    fn push(&mut self, progress: ProgressParams) {
        self.bytes += size_estimate(&progress);
        self.buffered.push_back(progress);
        while self.buffered.len() > MAX_BUFFERED
            || (self.bytes > MAX_BUFFERED_BYTES && self.buffered.len() > 1)
        {
            self.pop();
            self.lost += 1;
        }
    }

    fn pop(&mut self) -> Option<ProgressParams> {
        let oldest = self.buffered.pop_front()?;
        self.bytes -= size_estimate(&oldest);
        Some(oldest)
    }
}

/// Estimates the memory used by the parts of a report whose size the server controls.
fn size_estimate(progress: &ProgressParams) -> usize {
    let members = |extra: &Extra| -> usize {
        let members = extra.iter();
        members
            .map(|(key, value)| key.len() + value.get().len() + MEMBER_OVERHEAD)
            .sum()
    };
    let message = progress.message.as_ref().map_or(0, String::len);
    let meta = progress.meta.as_ref();
    message + meta.map_or(0, |meta| members(meta.members())) + members(&progress.extra)
}

/// Wakes the receiver after releasing the lock.
fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl fmt::Debug for ProgressSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressSender").finish_non_exhaustive()
    }
}

impl fmt::Debug for ProgressReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = sync::lock(&self.0);
        f.debug_struct("ProgressReceiver")
            .field("waiting", &state.buffered.len())
            .field("lost", &state.lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::model::ProgressToken;

    fn report(step: u32, message: &str) -> ProgressParams {
        let mut report = ProgressParams::new(ProgressToken::from(1_u64), f64::from(step));
        report.message = Some(message.to_owned());
        report
    }

    /// Sends these, and gives what came through and how many did not.
    fn send_all(reports: impl IntoIterator<Item = ProgressParams>) -> (Vec<f64>, u64) {
        let (sender, receiver) = progress_channel();
        for report in reports {
            assert!(sender.send(report).is_none(), "nobody waits");
        }
        let mut state = sync::lock(&receiver.0);
        let oldest = std::iter::from_fn(|| state.pop());
        let steps = oldest.map(|report| report.progress.as_f64()).collect();
        assert_eq!(state.bytes, 0);
        (steps, state.lost)
    }

    #[test]
    fn the_newest_stay() {
        let (steps, lost) = send_all((0..100).map(|step| report(step, "")));
        assert_eq!(steps, (36..100).map(f64::from).collect::<Vec<_>>());
        assert_eq!(lost, 36);
    }

    #[test]
    fn long_reports_count_by_their_length() {
        let long = "x".repeat(MAX_BUFFERED_BYTES / 2);
        let (steps, lost) = send_all((0..10).map(|step| report(step, &long)));
        assert_eq!((steps, lost), (vec![8.0, 9.0], 8));
        let huge = "x".repeat(MAX_BUFFERED_BYTES * 2);
        let (steps, lost) = send_all((0..3).map(|step| report(step, &huge)));
        assert_eq!((steps, lost), (vec![2.0], 2), "the newest stays anyway");
    }

    #[test]
    fn nothing_is_kept_for_those_who_have_gone() {
        let (sender, receiver) = progress_channel();
        drop(receiver);
        let _ = sender.send(report(1, "unheard"));
        assert!(sync::lock(&sender.0).buffered.is_empty());
    }
}
