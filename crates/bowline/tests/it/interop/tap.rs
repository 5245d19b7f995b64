//! Listening in on a link, so that a test can ask what was on the wire.

use std::{
    env,
    io::Write as _,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bowline::{
    proto::revision::Revision,
    transport::{
        BoxFuture, ChildProcess, ConnectionError, DialOptions, Link, LinkEvent, OutgoingFrame,
        SendError, Transport, TransportKind,
    },
};
use bytes::Bytes;
use serde_json::Value;

use crate::sync::lock;

/// Every frame of a connection so far, in either direction.
#[derive(Clone, Default)]
pub(crate) struct Frames(Arc<Mutex<Vec<(Direction, Value)>>>);

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Out,
    In,
}

impl Frames {
    /// What we sent of this method.
    pub(crate) fn sent(&self, method: &str) -> Vec<Value> {
        self.find(Direction::Out, method)
    }

    /// What the server sent of this method.
    pub(crate) fn received(&self, method: &str) -> Vec<Value> {
        self.find(Direction::In, method)
    }

    fn find(&self, direction: Direction, method: &str) -> Vec<Value> {
        let frames = lock(&self.0);
        let found = frames
            .iter()
            .filter(|(its, frame)| *its == direction && frame["method"] == method);
        found.map(|(_, frame)| frame.clone()).collect()
    }

    fn record(&self, direction: Direction, frame: &[u8]) {
        if env::var_os("BOWLINE_SHOW_FRAMES").is_some() {
            let arrow = if direction == Direction::Out {
                "-->"
            } else {
                "<--"
            };
            let text = String::from_utf8_lossy(frame);
            let _ = writeln!(std::io::stderr(), "{arrow} {text}");
        }
        let value = serde_json::from_slice(frame).unwrap_or_default();
        let mut frames = lock(&self.0);
        frames.push((direction, value));
    }
}

/// A child process whose frames are kept.
pub(crate) struct Tapped {
    pub(crate) process: ChildProcess,
    pub(crate) frames: Frames,
}

impl Transport for Tapped {
    fn dial(
        &mut self,
        dial: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let dialling = self.process.dial(dial);
        let frames = self.frames.clone();
        Box::pin(async move {
            let link = dialling.await?;
            Ok(Box::new(TappedLink { link, frames }) as Box<dyn Link>)
        })
    }

    fn kind(&self) -> TransportKind {
        self.process.kind()
    }

    fn describe(&self) -> String {
        self.process.describe()
    }
}

struct TappedLink {
    link: Box<dyn Link>,
    frames: Frames,
}

impl Link for TappedLink {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let frame: Bytes = outgoing.frame.clone();
        self.link.send(outgoing)?;
        self.frames.record(Direction::Out, &frame);
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = self.link.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.frames.record(Direction::In, frame);
        }
        event
    }

    fn abort(&mut self, id: u64) {
        self.link.abort(id);
    }

    fn set_revision(&mut self, revision: Revision) {
        self.link.set_revision(revision);
    }

    fn close(self: Box<Self>) {
        self.link.close();
    }
}
