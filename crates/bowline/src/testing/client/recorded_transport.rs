//! A transport that passes every frame to a recorder.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use super::recorder::TranscriptRecorder;
use crate::transport::{
    Intercepted, Link, LinkEvent, LinkInterceptor, Memory, OutgoingFrame, SendError, Transport,
};

/// Returns a transport to a node whose frames are recorded in order.
pub(super) fn recorded(
    inner: Memory,
    recorder: Arc<TranscriptRecorder>,
    node: usize,
) -> impl Transport {
    Intercepted::new(inner, move || FrameRecorder {
        recorder: Arc::clone(&recorder),
        node,
    })
}

struct FrameRecorder {
    recorder: Arc<TranscriptRecorder>,
    /// The node that the link leads to.
    node: usize,
}

impl LinkInterceptor for FrameRecorder {
    fn send(&mut self, link: &mut dyn Link, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let frame = outgoing.frame.clone();
        link.send(outgoing)?;
        self.recorder.record_sent(self.node, &frame);
        Ok(())
    }

    fn poll_event(&mut self, link: &mut dyn Link, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = link.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.recorder.record_received(self.node, frame);
        }
        event
    }
}
