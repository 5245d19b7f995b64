//! A transport that lets every frame of another one be seen.

use std::{
    task::{Context, Poll},
    time::Instant,
};

use bowline::{
    proto::revision::{Era, Revision},
    transport::{BoxFuture, Cause, Dial, Link, LinkEvent, Outgoing, Refusal, Transport, Wire},
};

use super::{Happening, without_secrets};

/// Sees what happens to links. Clones are the same.
pub(crate) trait Watcher: Clone + Send + Sync + 'static {
    /// Something happened to the link of this number.
    fn see(&self, link: u32, happening: &Happening<'_>);

    /// The number of a new link, for those who tell them apart.
    fn number(&self) -> u32 {
        0
    }
}

/// A transport whose links are watched. It changes nothing about them.
pub(crate) struct Tapped<W> {
    inner: Box<dyn Transport>,
    watcher: W,
}

impl<W: Watcher> Tapped<W> {
    pub(crate) fn new(inner: Box<dyn Transport>, watcher: W) -> Self {
        Self { inner, watcher }
    }
}

impl<W: Watcher> Transport for Tapped<W> {
    fn dial(&mut self, dial: Dial) -> BoxFuture<'static, Result<Box<dyn Link>, Cause>> {
        let (began, watcher) = (Instant::now(), self.watcher.clone());
        let inner = self.inner.dial(dial);
        let server = without_secrets(&self.inner.describe());
        Box::pin(async move {
            let inner = inner.await;
            let number = watcher.number();
            match inner {
                Ok(inner) => {
                    let (server, took) = (&*server, began.elapsed());
                    watcher.see(number, &Happening::Up { server, took });
                    Ok(Box::new(Tap {
                        inner,
                        watcher,
                        number,
                        down: false,
                    }) as Box<dyn Link>)
                }
                Err(cause) => {
                    watcher.see(number, &Happening::Down(&cause));
                    Err(cause)
                }
            }
        })
    }

    fn wire(&self) -> Wire {
        self.inner.wire()
    }

    fn known_era(&self) -> Option<Era> {
        self.inner.known_era()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct Tap<W> {
    inner: Box<dyn Link>,
    watcher: W,
    number: u32,
    /// Whether the link has said that it is dead.
    down: bool,
}

impl<W: Watcher> Tap<W> {
    fn see(&self, happening: &Happening<'_>) {
        self.watcher.see(self.number, happening);
    }
}

impl<W: Watcher> Link for Tap<W> {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        let (id, frame) = (outgoing.id, outgoing.frame.clone());
        match self.inner.send(outgoing) {
            Ok(()) => {
                self.see(&Happening::Sent(&frame));
                Ok(())
            }
            // It is offered again, and is seen when it is taken.
            Err(busy @ Refusal::Busy(_)) => Err(busy),
            Err(refusal) => {
                let why = why(&refusal);
                self.see(&Happening::Refused { id, why });
                Err(refusal)
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
            Poll::Ready(LinkEvent::Frame(frame)) => self.see(&Happening::Received(frame)),
            Poll::Ready(LinkEvent::Oversize { size, .. }) => {
                self.see(&Happening::Oversize(*size));
            }
            Poll::Ready(LinkEvent::Refused { id, refusal }) => {
                let (id, why) = (*id, why(refusal));
                self.see(&Happening::Refused { id, why });
            }
            Poll::Ready(LinkEvent::Down(cause)) => {
                self.down = true;
                self.see(&Happening::Down(cause));
            }
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.see(&Happening::GivenUp(id));
        self.inner.abort(id);
    }

    fn last_words(&self) -> Option<String> {
        self.inner.last_words()
    }

    fn settle(&mut self, revision: Revision) {
        self.see(&Happening::Settled(revision));
        self.inner.settle(revision);
    }

    fn close(self: Box<Self>) {
        if !self.down {
            self.see(&Happening::Closed);
        }
        self.inner.close();
    }
}

fn why(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Busy(_) => "the link is busy".to_owned(),
        Refusal::Failed(cause) | Refusal::Unanswered(cause) => cause.to_string(),
        Refusal::Status(refusal) => refusal.cause().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use bowline::{testing::contract, transport::Memory};

    use super::{super::Traffic, *};

    #[tokio::test]
    async fn what_is_watched_keeps_the_contract() {
        contract::check(|| {
            let (inner, far) = Memory::new();
            let tapped = Tapped::new(Box::new(inner), Traffic::default());
            (tapped, far)
        })
        .await;
    }
}
