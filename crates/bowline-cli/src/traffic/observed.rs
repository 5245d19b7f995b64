//! A transport that reports every frame of another one.

use std::{
    task::{Context, Poll},
    time::Instant,
};

use bowline::{
    Revision,
    proto::revision::Era,
    transport::{
        BoxFuture, ConnectionError, DialOptions, InterceptedLink, Link, LinkEvent, LinkInterceptor,
        OutgoingFrame, SendError, Transport, TransportKind,
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
                    let observer = LinkObserver {
                        observer,
                        number,
                        down: false,
                    };
                    Ok(Box::new(InterceptedLink::new(inner, observer)) as Box<dyn Link>)
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

/// Observes one link.
struct LinkObserver<W> {
    observer: W,
    number: u32,
    /// Whether the link reported its failure.
    down: bool,
}

impl<W: TrafficObserver> LinkObserver<W> {
    fn observe(&self, event: &TrafficEvent<'_>) {
        self.observer.observe(self.number, event);
    }
}

impl<W: TrafficObserver> LinkInterceptor for LinkObserver<W> {
    fn send(&mut self, link: &mut dyn Link, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let (id, frame) = (outgoing.id, outgoing.frame.clone());
        match link.send(outgoing) {
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

    fn poll_event(&mut self, link: &mut dyn Link, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = link.poll_event(cx);
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

    fn abort(&mut self, link: &mut dyn Link, id: u64) {
        self.observe(&TrafficEvent::Cancelled(id));
        link.abort(id);
    }

    fn set_revision(&mut self, link: &mut dyn Link, revision: Revision) {
        self.observe(&TrafficEvent::RevisionAgreed(revision));
        link.set_revision(revision);
    }

    fn closing(&mut self) {
        if !self.down {
            self.observe(&TrafficEvent::Closed);
        }
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
