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

use super::protected::Lifetime;
use crate::proto::http::{
    resume::EventId,
    sse::{EventWriter, KEEP_ALIVE},
};

/// How much is sent in one piece, if so much is there at once.
const PIECE: usize = 16 * 1024;
/// How many pieces are sent of what is there when the token ends: what is
/// ready is delivered, and a source that never pauses ends all the same.
const MAX_PIECES_AFTER: usize = 64;
/// How much room there is for a piece to begin with.
const ROOM: usize = 512;

/// Where events come from.
pub(super) trait Source: Send {
    /// Writes the next event, if there is one, and says whether more may come.
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>>;

    /// Writes why nothing more comes, where the token has ended that opened
    /// it. A stream that its client can come back to needs no words: whoever
    /// comes is told to bring another token, and nothing is lost.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// A stream of events.
pub(super) struct Events {
    source: Box<dyn Source>,
    /// What was read of the source before anybody asked.
    begun: Option<Bytes>,
    /// The end, where something came together with it.
    last: Option<Last>,
    /// When it ends, whatever is still to come.
    until: Option<Lifetime>,
    /// How many pieces of what is there may still be sent, once it has ended.
    ended: Option<usize>,
    /// Set where there is something to wait for.
    quiet: Option<Pin<Box<Sleep>>>,
    /// Something was sent after that.
    stale: bool,
    keep_alive: Duration,
    over: bool,
}

/// The last event of a stream, by itself. There are clients that forget about a
/// request when its answer is there, before they have looked at what came in the
/// same piece.
enum Last {
    /// What came before is to be sent first.
    Waits(Bytes),
    Comes(Bytes),
}

impl Events {
    pub(super) fn new(source: impl Source + 'static, keep_alive: Duration) -> Self {
        Self {
            source: Box::new(source),
            begun: None,
            last: None,
            until: None,
            ended: None,
            quiet: None,
            stale: false,
            keep_alive,
            over: false,
        }
    }

    /// The same, which ends at this time at the latest.
    pub(super) fn until(mut self, until: Option<Lifetime>) -> Self {
        self.until = until;
        self
    }

    /// Looks at what is there already; gives it if that is all there will be.
    pub(super) fn begin(&mut self) -> Option<Bytes> {
        // Whoever wants the rest asks again, so that nobody need be woken.
        let there = self.gather(&mut Context::from_waker(Waker::noop()));
        if self.over && self.last.is_none() {
            return Some(there);
        }
        self.begun = Some(there).filter(|there| !there.is_empty());
        None
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(begun) = self.begun.take() {
            return Poll::Ready(Some(begun));
        }
        match self.last.take() {
            Some(Last::Waits(last)) => {
                // Whoever asks sends what it has before it asks again.
                self.last = Some(Last::Comes(last));
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Last::Comes(last)) => return Poll::Ready(Some(last)),
            None => {}
        }
        loop {
            self.look_at_token(cx);
            let said = match self.ended {
                Some(0) => Bytes::new(),
                _ => self.gather(cx),
            };
            if !said.is_empty() {
                self.stale = true;
                self.ended = self.ended.map(|left| left - 1);
                return Poll::Ready(Some(said));
            }
            if self.over {
                return Poll::Ready(None);
            }
            if self.ended.is_some() {
                return Poll::Ready(self.end());
            }
            if self.rest().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.stale = true;
            if self.is_past() {
                continue;
            }
            // The timer must be polled to be heard of.
            let _ = self.rest().poll(cx);
            return Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)));
        }
    }

    /// Looks whether the token has ended, where it is time to.
    fn look_at_token(&mut self, cx: &mut Context<'_>) {
        let Some(until) = self.until.as_mut().filter(|_| self.ended.is_none()) else {
            return;
        };
        if until.until().is_some_and(|at| at > Instant::now()) {
            return;
        }
        if let Poll::Ready(over) = until.poll_over(cx) {
            self.ended = over.then_some(MAX_PIECES_AFTER);
            // There may be another time to look.
            self.stale = true;
        }
    }

    /// The last words.
    fn end(&mut self) -> Option<Bytes> {
        self.over = true;
        let mut out = Vec::new();
        self.source.end(&mut out);
        Some(out.into()).filter(|out: &Bytes| !out.is_empty())
    }

    /// Whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.over && self.begun.is_none() && self.last.is_none()
    }

    fn is_past(&self) -> bool {
        let until = self.until.as_ref().and_then(Lifetime::until);
        until.is_some_and(|until| until <= Instant::now())
    }

    /// What can be had at once, in one piece.
    fn gather(&mut self, cx: &mut Context<'_>) -> Bytes {
        let mut out = Vec::new();
        while !self.over && out.len() < PIECE {
            let before = out.len();
            match self.source.poll_event(cx, &mut out) {
                Poll::Ready(ControlFlow::Continue(())) => {}
                Poll::Ready(ControlFlow::Break(())) => {
                    self.over = true;
                    if before > 0 && out.len() > before {
                        let last = out.split_off(before);
                        self.last = Some(Last::Waits(last.into()));
                    }
                }
                Poll::Pending => break,
            }
        }
        out.into()
    }

    /// The timer of a stream that is quiet, which runs from when it became so.
    fn rest(&mut self) -> Pin<&mut Sleep> {
        let until = Instant::now() + self.keep_alive;
        let end = self.until.as_ref().and_then(Lifetime::until);
        let until = end.map_or(until, |end| end.min(until));
        let quiet = &mut self.quiet;
        let stale = std::mem::take(&mut self.stale) && quiet.is_some();
        let quiet = quiet.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if stale {
            quiet.as_mut().reset(until);
        }
        quiet.as_mut()
    }
}

/// Writes a message as an event.
pub(super) fn event(id: Option<EventId>, message: &[u8], out: &mut Vec<u8>) {
    match id {
        Some(id) => event_called(id.write(&mut [0; EventId::LONGEST]), message, out),
        None => plain_event(message, out),
    }
}

/// Writes a message as an event that was given this id elsewhere.
pub(super) fn event_called(id: &str, message: &[u8], out: &mut Vec<u8>) {
    write(&called(id), message, out);
}

/// Writes a message as an event that is not kept.
pub(super) fn plain_event(message: &[u8], out: &mut Vec<u8>) {
    write(&EventWriter::new(), message, out);
}

/// Writes an event that says where the stream begins, and when to come back to
/// it.
pub(super) fn prime(id: EventId, retry: Duration, out: &mut Vec<u8>) {
    let mut room = [0; EventId::LONGEST];
    let id = id.write(&mut room);
    write(&called(id).retry(retry), b"", out);
}

fn write(event: &EventWriter<'_>, message: &[u8], out: &mut Vec<u8>) {
    if out.is_empty() {
        // Few come alone.
        out.reserve(ROOM);
    }
    event.write(message, out);
}

/// Ids of ours have no line ends; one that had would be left out.
fn called(id: &str) -> EventWriter<'_> {
    EventWriter::new().id(id).unwrap_or_default()
}
