//! What every client that is measured can do, so that all are measured alike.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::Failure;

/// A client that is connected.
pub(crate) trait Client {
    /// Makes the calls, and looks at every answer.
    fn run(&mut self, load: &mut Load) -> Result<(), Failure>;

    /// Ends the connection as this client ends it. The server may still be
    /// ending when this returns.
    fn stop(&mut self) -> Result<(), Failure>;

    /// Lets a little time pass, in which the client goes on with what it does
    /// in the background, such as waiting for its child.
    fn pause(&mut self, time: Duration);
}

/// Calls of the tool `echo`.
pub(crate) struct Load {
    pub(crate) text: Arc<str>,
    pub(crate) calls: usize,
    /// How many are in flight.
    pub(crate) width: usize,
    /// How long each took, where they are made one by one.
    pub(crate) times: Vec<Duration>,
}

impl Load {
    pub(crate) fn new(text: &Arc<str>, calls: usize, width: usize) -> Self {
        let timed = if width == 1 { calls } else { 0 };
        Self {
            text: Arc::clone(text),
            calls,
            width,
            // Not to grow while it is measured.
            times: Vec::with_capacity(timed),
        }
    }

    /// A call was made that was begun then.
    pub(crate) fn took(&mut self, begun: Instant) {
        self.times.push(begun.elapsed());
    }

    /// The calls of one of those that make them side by side.
    pub(crate) fn share(&self, index: usize) -> usize {
        self.calls / self.width + usize::from(index < self.calls % self.width)
    }
}

/// Whether as much came back as was sent.
pub(crate) fn check(length: Option<usize>, text: &str) -> Result<(), Failure> {
    match length {
        Some(length) if length == text.len() => Ok(()),
        _ => Err(format!(
            "{length:?} bytes of text came back, not {}",
            text.len()
        )),
    }
}

/// Text as people write it: short ones are plain, and in longer ones there is
/// now and then something that JSON escapes.
pub(crate) fn sample(bytes: usize) -> String {
    const LINE: &str = "The quick brown fox jumps over the lazy dog, which does not mind, \
        and rests beside the river until the evening comes.\n\"Again?\" asks the dog.\n";
    LINE.chars().cycle().take(bytes).collect()
}
