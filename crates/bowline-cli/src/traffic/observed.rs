//! A transport that reports every frame of another one.

use std::{
    task::{Context, Poll},
    time::Instant,
};

use bowline::{
    Revision,
    proto::revision::Era,
    transport::{
        BoxFuture, ConnectionError, DialOptions, Link, LinkEvent, OutgoingFrame, SendError,
        Transport, TransportKind,
    },
};

use super::{TrafficEvent, redact};

/// Observes links. Clones share state.
pub(crate) trait TrafficObserver: Clone + Send + Sync + 'static {
    /// Handles an event on the link of this number.
    fn observe(&self, link: u32, event: &TrafficEvent<'_>);

    /// Returns the number of a new link, for observers that tell them apart.
    fn next_link(&self) -> u32 {
        0
    }
}

/// A transport with observed links, otherwise unchanged.
pub(crate) struct ObservedTransport<W> {
    inner: Box<dyn Transport>,
    observer: W,
}

impl<W: TrafficObserver> ObservedTransport<W> {
    pub(crate) fn new(inner: Box<dyn Transport>, observer: W) -> Self {
        Self { inner, observer }
    }
}

impl<W: TrafficObserver> Transport for ObservedTransport<W> {
    fn dial(
        &mut self,
        dial: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let (start, observer) = (Instant::now(), self.observer.clone());
        let inner = self.inner.dial(dial);
        let server = redact(&self.inner.describe());
        Box::pin(async move {
            let inner = inner.await;
            let number = observer.next_link();
            match inner {
                Ok(inner) => {
                    let (server, dial_time) = (&*server, start.elapsed());
                    observer.observe(number, &TrafficEvent::Up { server, dial_time });
                    Ok(Box::new(ObservedLink {
                        inner,
                        observer,
                        number,
                        down: false,
                    }) as Box<dyn Link>)
                }
                Err(cause) => {
                    observer.observe(number, &TrafficEvent::Down(&cause));
                    Err(cause)
                }
            }
        })
    }

    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn known_era(&self) -> Option<Era> {
        self.inner.known_era()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct ObservedLink<W> {
    inner: Box<dyn Link>,
    observer: W,
    number: u32,
    /// Whether the link reported its failure.
    down: bool,
}

impl<W: TrafficObserver> ObservedLink<W> {
    fn observe(&self, event: &TrafficEvent<'_>) {
        self.observer.observe(self.number, event);
    }
}

impl<W: TrafficObserver> Link for ObservedLink<W> {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let (id, frame) = (outgoing.id, outgoing.frame.clone());
        match self.inner.send(outgoing) {
            Ok(()) => {
                self.observe(&TrafficEvent::Sent(&frame));
                Ok(())
            }
            // The frame is offered again, and reported when accepted.
            Err(busy @ SendError::Busy(_)) => Err(busy),
            Err(error) => {
                let reason = error_reason(&error);
                self.observe(&TrafficEvent::Refused { id, reason });
                Err(error)
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = self.inner.poll_event(cx);
        match &event {
            Poll::Pending => {}
            Poll::Ready(LinkEvent::Frame(frame)) => self.observe(&TrafficEvent::Received(frame)),
            Poll::Ready(LinkEvent::OversizedFrame { size, .. }) => {
                self.observe(&TrafficEvent::OversizedFrame(*size));
            }
            Poll::Ready(LinkEvent::SendFailed { id, error }) => {
                let (id, reason) = (*id, error_reason(error));
                self.observe(&TrafficEvent::Refused { id, reason });
            }
            Poll::Ready(LinkEvent::Down(cause)) => {
                self.down = true;
                self.observe(&TrafficEvent::Down(cause));
            }
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.observe(&TrafficEvent::Cancelled(id));
        self.inner.abort(id);
    }

    fn stderr_tail(&self) -> Option<String> {
        self.inner.stderr_tail()
    }

    fn set_revision(&mut self, revision: Revision) {
        self.observe(&TrafficEvent::RevisionAgreed(revision));
        self.inner.set_revision(revision);
    }

    fn close(self: Box<Self>) {
        if !self.down {
            self.observe(&TrafficEvent::Closed);
        }
        self.inner.close();
    }
}

fn error_reason(error: &SendError) -> String {
    match error {
        SendError::Busy(_) => "the link is busy".to_owned(),
        SendError::Failed(cause) | SendError::NoResponse(cause) => cause.to_string(),
        SendError::Status(error) => error.to_connection_error().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use bowline::{testing::contract, transport::Memory};

    use super::{super::Traffic, *};

    #[tokio::test]
    async fn what_is_watched_keeps_the_contract() {
        contract::transport(|| {
            let (inner, far) = Memory::new();
            let observed = ObservedTransport::new(Box::new(inner), Traffic::default());
            (observed, far)
        })
        .await;
    }
}
