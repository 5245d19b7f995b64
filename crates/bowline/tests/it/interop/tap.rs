//! Listening in on a link, so that a test can ask what was on the wire.

use std::{
    env,
    io::Write as _,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bowline::transport::{
    ChildProcess, Intercepted, Link, LinkEvent, LinkInterceptor, OutgoingFrame, SendError,
    Transport,
};
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
pub(crate) fn tapped(process: ChildProcess, frames: Frames) -> impl Transport {
    Intercepted::new(process, move || Tap(frames.clone()))
}

struct Tap(Frames);

impl LinkInterceptor for Tap {
    fn send(&mut self, link: &mut dyn Link, outgoing: OutgoingFrame) -> Result<(), SendError> {
        let frame = outgoing.frame.clone();
        link.send(outgoing)?;
        self.0.record(Direction::Out, &frame);
        Ok(())
    }

    fn poll_event(&mut self, link: &mut dyn Link, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let event = link.poll_event(cx);
        if let Poll::Ready(LinkEvent::Frame(frame)) = &event {
            self.0.record(Direction::In, frame);
        }
        event
    }
}
