//! What goes out: nothing, one text, or a stream of events.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{events::Events, pulse::Answering};

/// The body of an answer.
pub struct Body {
    kind: Kind,
    /// Held until the body is sent, or given up.
    _held: Option<Answering>,
}

enum Kind {
    Whole(Bytes),
    Events(Box<Events>),
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::of(Kind::Whole(bytes))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, _held: None }
    }

    /// The same, which tells when it is sent.
    pub(super) fn holding(self, held: Option<Answering>) -> Self {
        Self {
            _held: held,
            ..self
        }
    }

    pub(super) fn events(events: Events) -> Self {
        Self::of(Kind::Events(Box::new(events)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.kind {
            Kind::Whole(bytes) if bytes.is_empty() => None,
            Kind::Whole(bytes) => Some(std::mem::take(bytes)),
            Kind::Events(events) => std::task::ready!(events.poll_next(cx)),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_empty(),
            Kind::Events(events) => events.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            Kind::Whole(_) => "Body(whole)",
            Kind::Events(_) => "Body(events)",
        })
    }
}
