//! Server-sent event streams with keep-alive.

use std::{
    future::Future as _,
    ops::ControlFlow,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep};

use super::protected::TokenLifetime;
use crate::proto::http::{
    resume::EventId,
    sse::{EventEncoder, KEEP_ALIVE},
};

/// The maximum number of bytes sent in one chunk.
const CHUNK_BYTES: usize = 16 * 1024;
/// How many chunks are still sent once the token has expired: pending events
/// are delivered, but a source that never pauses still ends.
const MAX_CHUNKS_AFTER_EXPIRY: usize = 64;
/// The initial capacity of a chunk.
const INITIAL_CHUNK_BYTES: usize = 512;

/// A source of events.
pub(super) trait EventSource: Send {
    /// Writes the next event, if any, and returns whether more may follow.
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>>;

    /// Writes the error that ends the stream once its token has expired. A
    /// stream that can be resumed needs none: the client is asked for another
    /// token when it resumes, and nothing is lost.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// An event stream.
pub(super) struct EventStream {
    source: Box<dyn EventSource>,
    /// A chunk read from the source in advance.
    buffered: Option<Bytes>,
    /// The final event, if other events precede it.
    final_event: Option<FinalEvent>,
    /// Ends the stream once the token expires.
    token_lifetime: Option<TokenLifetime>,
    /// How many chunks may still be sent after the token has expired.
    chunks_until_end: Option<usize>,
    /// Set once the stream has to wait.
    keep_alive_timer: Option<Pin<Box<Sleep>>>,
    /// Whether something was sent since the timer was set.
    is_timer_stale: bool,
    keep_alive_interval: Duration,
    is_ended: bool,
}

/// The last event of a stream, sent in its own chunk. Some clients forget a
/// request when they see its response, before they process the rest of the same
/// chunk.
enum FinalEvent {
    /// Sent after the events that precede it.
    Deferred(Bytes),
    Ready(Bytes),
}

impl EventStream {
    pub(super) fn new(source: impl EventSource + 'static, keep_alive_interval: Duration) -> Self {
        Self {
            source: Box::new(source),
            buffered: None,
            final_event: None,
            token_lifetime: None,
            chunks_until_end: None,
            keep_alive_timer: None,
            is_timer_stale: false,
            keep_alive_interval,
            is_ended: false,
        }
    }

    /// Sets a token lifetime that ends the stream.
    pub(super) fn with_token_lifetime(mut self, lifetime: Option<TokenLifetime>) -> Self {
        self.token_lifetime = lifetime;
        self
    }

    /// Reads the events that are ready. Returns them if the stream is already
    /// complete.
    pub(super) fn try_complete(&mut self) -> Option<Bytes> {
        // The caller polls again for the rest, so no wakeup is needed.
        let chunk = self.next_chunk(&mut Context::from_waker(Waker::noop()));
        if self.is_ended && self.final_event.is_none() {
            return Some(chunk);
        }
        self.buffered = Some(chunk).filter(|chunk| !chunk.is_empty());
        None
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first_chunk) = self.buffered.take() {
            return Poll::Ready(Some(first_chunk));
        }
        match self.final_event.take() {
            Some(FinalEvent::Deferred(last)) => {
                // The caller sends what it has before it polls again.
                self.final_event = Some(FinalEvent::Ready(last));
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(FinalEvent::Ready(last)) => return Poll::Ready(Some(last)),
            None => {}
        }
        loop {
            self.check_token(cx);
            let next_chunk = match self.chunks_until_end {
                Some(0) => Bytes::new(),
                _ => self.next_chunk(cx),
            };
            if !next_chunk.is_empty() {
                self.is_timer_stale = true;
                self.chunks_until_end = self.chunks_until_end.map(|left| left - 1);
                return Poll::Ready(Some(next_chunk));
            }
            if self.is_ended {
                return Poll::Ready(None);
            }
            if self.chunks_until_end.is_some() {
                return Poll::Ready(self.end());
            }
            if self.keep_alive_timer().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.is_timer_stale = true;
            if self.is_token_check_due() {
                continue;
            }
            // The timer must be polled to register the waker.
            let _ = self.keep_alive_timer().poll(cx);
            return Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)));
        }
    }

    /// Checks whether the token has expired, if it is time to.
    fn check_token(&mut self, cx: &mut Context<'_>) {
        let Some(lifetime) = self
            .token_lifetime
            .as_mut()
            .filter(|_| self.chunks_until_end.is_none())
        else {
            return;
        };
        if lifetime.next_check().is_some_and(|at| at > Instant::now()) {
            return;
        }
        if let Poll::Ready(is_expired) = lifetime.poll_expired(cx) {
            self.chunks_until_end = is_expired.then_some(MAX_CHUNKS_AFTER_EXPIRY);
            // The next check may be at another time.
            self.is_timer_stale = true;
        }
    }

    /// Returns the error that ends the stream.
    fn end(&mut self) -> Option<Bytes> {
        self.is_ended = true;
        let mut out = Vec::new();
        self.source.end(&mut out);
        Some(out.into()).filter(|out: &Bytes| !out.is_empty())
    }

    /// Returns whether no more events will follow.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended && self.buffered.is_none() && self.final_event.is_none()
    }

    fn is_token_check_due(&self) -> bool {
        let check_at = self
            .token_lifetime
            .as_ref()
            .and_then(TokenLifetime::next_check);
        check_at.is_some_and(|check_at| check_at <= Instant::now())
    }

    /// Returns the events that are ready as one chunk.
    fn next_chunk(&mut self, cx: &mut Context<'_>) -> Bytes {
        let mut out = Vec::new();
        while !self.is_ended && out.len() < CHUNK_BYTES {
            let before = out.len();
            match self.source.poll_event(cx, &mut out) {
                Poll::Ready(ControlFlow::Continue(())) => {}
                Poll::Ready(ControlFlow::Break(())) => {
                    self.is_ended = true;
                    if before > 0 && out.len() > before {
                        let last = out.split_off(before);
                        self.final_event = Some(FinalEvent::Deferred(last.into()));
                    }
                }
                Poll::Pending => break,
            }
        }
        out.into()
    }

    /// Returns the keep-alive timer, which runs from when the stream became
    /// idle.
    fn keep_alive_timer(&mut self) -> Pin<&mut Sleep> {
        let deadline = Instant::now() + self.keep_alive_interval;
        let end = self
            .token_lifetime
            .as_ref()
            .and_then(TokenLifetime::next_check);
        let deadline = end.map_or(deadline, |end| end.min(deadline));
        let timer = &mut self.keep_alive_timer;
        let stale = std::mem::take(&mut self.is_timer_stale) && timer.is_some();
        let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if stale {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut()
    }
}

/// Writes a message as an event.
pub(super) fn write_event(id: Option<EventId>, message: &[u8], out: &mut Vec<u8>) {
    match id {
        Some(id) => write_event_with_id(id.write(&mut [0; EventId::MAX_LEN]), message, out),
        None => write_event_without_id(message, out),
    }
}

/// Writes a message as an event with an id assigned elsewhere.
pub(super) fn write_event_with_id(id: &str, message: &[u8], out: &mut Vec<u8>) {
    encode(&encoder_with_id(id), message, out);
}

/// Writes a message as an event that cannot be resumed from.
pub(super) fn write_event_without_id(message: &[u8], out: &mut Vec<u8>) {
    encode(&EventEncoder::new(), message, out);
}

/// Writes an event with the id to resume the stream from its start, and the
/// retry delay.
pub(super) fn write_priming_event(id: EventId, retry: Duration, out: &mut Vec<u8>) {
    let mut buffer = [0; EventId::MAX_LEN];
    let id = id.write(&mut buffer);
    encode(&encoder_with_id(id).retry(retry), b"", out);
}

fn encode(event: &EventEncoder<'_>, message: &[u8], out: &mut Vec<u8>) {
    if out.is_empty() {
        // Several events usually share a chunk.
        out.reserve(INITIAL_CHUNK_BYTES);
    }
    event.write(message, out);
}

/// Our ids contain no line breaks; an id with one would be omitted.
fn encoder_with_id(id: &str) -> EventEncoder<'_> {
    EventEncoder::new().id(id).unwrap_or_default()
}
