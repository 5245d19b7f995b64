//! Response bodies: empty, a single string, or an event stream.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{activity::RequestGuard, events::EventStream};
#[cfg(feature = "cluster")]
use super::{cluster::ForwardedBody, quotas::RequestPermit};

/// The body of a response.
pub struct Body {
    kind: BodyKind,
    /// Held until the body is sent or dropped.
    _guard: Option<RequestGuard>,
}

enum BodyKind {
    Full(Bytes),
    Events(Box<EventStream>),
    #[cfg(feature = "cluster")]
    Forwarded(Box<ForwardedBody>),
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self::full(Bytes::new())
    }

    pub(crate) fn full(bytes: Bytes) -> Self {
        Self::with_kind(BodyKind::Full(bytes))
    }

    fn with_kind(kind: BodyKind) -> Self {
        Self { kind, _guard: None }
    }

    /// Attaches a guard that is dropped when the body is sent.
    pub(super) fn with_guard(self, guard: Option<RequestGuard>) -> Self {
        Self {
            _guard: guard,
            ..self
        }
    }

    pub(super) fn events(events: EventStream) -> Self {
        Self::with_kind(BodyKind::Events(Box::new(events)))
    }

    #[cfg(feature = "cluster")]
    pub(super) fn forwarded(body: ForwardedBody) -> Self {
        Self::with_kind(BodyKind::Forwarded(Box::new(body)))
    }

    /// Holds the permit of a request until the response of another node is sent.
    #[cfg(feature = "cluster")]
    pub(super) fn holding(mut self, permit: RequestPermit) -> Self {
        if let BodyKind::Forwarded(body) = &mut self.kind {
            body.hold(permit);
        }
        self
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
            BodyKind::Full(bytes) if bytes.is_empty() => None,
            BodyKind::Full(bytes) => Some(std::mem::take(bytes)),
            BodyKind::Events(events) => std::task::ready!(events.poll_next(cx)),
            #[cfg(feature = "cluster")]
            BodyKind::Forwarded(body) => std::task::ready!(body.poll_next(cx)),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Full(bytes) => bytes.is_empty(),
            BodyKind::Events(events) => events.is_ended(),
            #[cfg(feature = "cluster")]
            BodyKind::Forwarded(body) => body.is_ended(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyKind::Events(_) => SizeHint::default(),
            #[cfg(feature = "cluster")]
            BodyKind::Forwarded(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            BodyKind::Full(_) => "Body(whole)",
            BodyKind::Events(_) => "Body(events)",
            #[cfg(feature = "cluster")]
            BodyKind::Forwarded(_) => "Body(forwarded)",
        })
    }
}
