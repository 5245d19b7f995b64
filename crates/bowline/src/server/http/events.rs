//! A stream of events, kept alive while it is quiet.

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

/// How much is sent in one piece, if so much is there at once.
const CHUNK_BYTES: usize = 16 * 1024;
/// How many pieces are sent of what is there when the token ends: what is
/// ready is delivered, and a source that never pauses ends all the same.
const MAX_CHUNKS_AFTER_EXPIRY: usize = 64;
/// How much room there is for a piece to begin with.
const INITIAL_CHUNK_BYTES: usize = 512;

/// Where events come from.
pub(super) trait EventSource: Send {
    /// Writes the next event, if there is one, and says whether more may come.
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>>;

    /// Writes why nothing more comes, where the token has ended that opened
    /// it. A stream that its client can come back to needs no words: whoever
    /// comes is told to bring another token, and nothing is lost.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// A stream of events.
pub(super) struct EventStream {
    source: Box<dyn EventSource>,
    /// What was read of the source before anybody asked.
    buffered: Option<Bytes>,
    /// The end, where something came together with it.
    final_event: Option<FinalEvent>,
    /// When it ends, whatever is still to come.
    token_lifetime: Option<TokenLifetime>,
    /// How many pieces of what is there may still be sent, once it has ended.
    chunks_until_end: Option<usize>,
    /// Set where there is something to wait for.
    keep_alive_timer: Option<Pin<Box<Sleep>>>,
    /// Something was sent after that.
    is_timer_stale: bool,
    keep_alive_interval: Duration,
    is_ended: bool,
}

/// The last event of a stream, by itself. There are clients that forget about a
/// request when its answer is there, before they have looked at what came in the
/// same piece.
enum FinalEvent {
    /// What came before is to be sent first.
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

    /// The same, which ends at this time at the latest.
    pub(super) fn with_token_lifetime(mut self, lifetime: Option<TokenLifetime>) -> Self {
        self.token_lifetime = lifetime;
        self
    }

    /// Looks at what is there already; gives it if that is all there will be.
    pub(super) fn try_complete(&mut self) -> Option<Bytes> {
        // Whoever wants the rest asks again, so that nobody need be woken.
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
                // Whoever asks sends what it has before it asks again.
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
            // The timer must be polled to be heard of.
            let _ = self.keep_alive_timer().poll(cx);
            return Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)));
        }
    }

    /// Looks whether the token has ended, where it is time to.
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
            // There may be another time to look.
            self.is_timer_stale = true;
        }
    }

    /// The last words.
    fn end(&mut self) -> Option<Bytes> {
        self.is_ended = true;
        let mut out = Vec::new();
        self.source.end(&mut out);
        Some(out.into()).filter(|out: &Bytes| !out.is_empty())
    }

    /// Whether nothing more will come.
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

    /// What can be had at once, in one piece.
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

    /// The timer of a stream that is quiet, which runs from when it became so.
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

/// Writes a message as an event that was given this id elsewhere.
pub(super) fn write_event_with_id(id: &str, message: &[u8], out: &mut Vec<u8>) {
    encode(&encoder_with_id(id), message, out);
}

/// Writes a message as an event that is not kept.
pub(super) fn write_event_without_id(message: &[u8], out: &mut Vec<u8>) {
    encode(&EventEncoder::new(), message, out);
}

/// Writes an event that says where the stream begins, and when to come back to
/// it.
pub(super) fn write_priming_event(id: EventId, retry: Duration, out: &mut Vec<u8>) {
    let mut buffer = [0; EventId::MAX_LEN];
    let id = id.write(&mut buffer);
    encode(&encoder_with_id(id).retry(retry), b"", out);
}

fn encode(event: &EventEncoder<'_>, message: &[u8], out: &mut Vec<u8>) {
    if out.is_empty() {
        // Few come alone.
        out.reserve(INITIAL_CHUNK_BYTES);
    }
    event.write(message, out);
}

/// Ids of ours have no line ends; one that had would be left out.
fn encoder_with_id(id: &str) -> EventEncoder<'_> {
    EventEncoder::new().id(id).unwrap_or_default()
}
