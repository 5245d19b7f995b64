//! A transport that lets a record see every frame.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::record::Record;
use crate::{
    proto::revision::Revision,
    transport::{BoxFuture, Cause, Dial, Link, LinkEvent, Memory, Outgoing, Refusal, Transport},
};

/// A transport whose frames are written down as they pass, in the order in
/// which they pass.
pub(super) struct Tapped {
    pub(super) inner: Memory,
    pub(super) record: Arc<Record>,
    /// Which node it leads to.
    pub(super) node: usize,
}

impl Transport for Tapped {
    fn dial(&mut self, dial: Dial) -> BoxFuture<'static, Result<Box<dyn Link>, Cause>> {
        let (inner, record, node) = (self.inner.dial(dial), Arc::clone(&self.record), self.node);
        Box::pin(async move {
            let inner = inner.await?;
            Ok(Box::new(Tap {
                inner,
                record,
                node,
            }) as Box<dyn Link>)
        })
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct Tap {
    inner: Box<dyn Link>,
    record: Arc<Record>,
    node: usize,
}

impl Link for Tap {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        let frame = outgoing.frame.clone();
        self.inner.send(outgoing)?;
        self.record.sent(self.node, &frame);
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = self.inner.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.record.received(self.node, frame);
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.inner.abort(id);
    }

    fn settle(&mut self, revision: Revision) {
        self.inner.settle(revision);
    }

    fn close(self: Box<Self>) {
        self.inner.close();
    }
}
