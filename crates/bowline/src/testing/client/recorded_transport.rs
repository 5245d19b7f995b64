//! A transport that passes every frame to a recorder.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::recorder::TranscriptRecorder;
use crate::{
    proto::revision::Revision,
    transport::{
        BoxFuture, ConnectionError, DialOptions, Link, LinkEvent, Memory, OutgoingFrame, SendError,
        Transport,
    },
};

/// A transport whose frames are recorded in order.
pub(super) struct RecordedTransport {
    pub(super) inner: Memory,
    pub(super) recorder: Arc<TranscriptRecorder>,
    /// The node it connects to.
    pub(super) node: usize,
}

impl Transport for RecordedTransport {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let (inner, recorder, node) = (
            self.inner.dial(options),
            Arc::clone(&self.recorder),
            self.node,
        );
        Box::pin(async move {
            let inner = inner.await?;
            Ok(Box::new(RecordedLink {
                inner,
                recorder,
                node,
            }) as Box<dyn Link>)
        })
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct RecordedLink {
    inner: Box<dyn Link>,
    recorder: Arc<TranscriptRecorder>,
    node: usize,
}

impl Link for RecordedLink {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let frame = outgoing.frame.clone();
        self.inner.send(outgoing)?;
        self.recorder.record_sent(self.node, &frame);
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = self.inner.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.recorder.record_received(self.node, frame);
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.inner.abort(id);
    }

    fn set_revision(&mut self, revision: Revision) {
        self.inner.set_revision(revision);
    }

    fn close(self: Box<Self>) {
        self.inner.close();
    }
}
