//! A stream of events, kept alive while it is quiet.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep};

use crate::proto::http::sse::{EventWriter, KEEP_ALIVE};

/// Where events come from.
pub(super) trait Source: Send {
    /// The next event, encoded; `None` at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// A stream of events.
pub(super) struct Events {
    source: Box<dyn Source>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

impl Events {
    pub(super) fn new(source: impl Source + 'static, keep_alive: Duration) -> Self {
        Self {
            source: Box::new(source),
            quiet: Box::pin(tokio::time::sleep(keep_alive)),
            keep_alive,
        }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(event) = self.source.poll_event(cx) {
            self.rest();
            return Poll::Ready(event);
        }
        if self.quiet.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.rest();
        // The timer must be polled to be heard of.
        let _ = self.quiet.as_mut().poll(cx);
        Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)))
    }

    fn rest(&mut self) {
        let until = Instant::now() + self.keep_alive;
        self.quiet.as_mut().reset(until);
    }
}

/// A message as an event.
pub(super) fn event(id: Option<&str>, message: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + 64);
    let writer = EventWriter::new();
    // Ids of ours have no line ends; one that had would be left out.
    let writer = match id {
        Some(id) => writer.id(id).unwrap_or_default(),
        None => writer,
    };
    writer.write(message, &mut out);
    out.into()
}

/// An event that says where the stream begins, and when to come back to it.
pub(super) fn prime(id: &str, retry: Duration) -> Bytes {
    let mut out = Vec::new();
    let writer = EventWriter::new().id(id).unwrap_or_default();
    writer.retry(retry).write(b"", &mut out);
    out.into()
}
