//! Pipes in memory: bytes and lines, as between processes, without the system.

use bowline::transport::{
    BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, Link, StreamLink, Transport,
};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// Whole lists fit in.
const HELD: usize = 8 * 1024 * 1024;

/// The largest frame that ours takes by default.
const MAX_FRAME: usize = 16 * 1024 * 1024;

/// How much ours queues for a child process.
const MAX_QUEUE: usize = 4 * 1024 * 1024;

/// Both ends of a pipe in both directions.
pub(crate) fn pipe() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(HELD)
}

/// A link of ours over one end of a pipe.
pub(crate) fn link(
    end: DuplexStream,
) -> StreamLink<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>> {
    let (reader, writer) = tokio::io::split(end);
    StreamLink::new(reader, writer, MAX_FRAME, MAX_QUEUE)
}

/// A transport of ours with one link, over one end of a pipe.
pub(crate) struct Pipe(Option<DuplexStream>);

impl Pipe {
    /// For this end.
    pub(crate) fn new(end: DuplexStream) -> Self {
        Self(Some(end))
    }
}

impl Transport for Pipe {
    fn dial(
        &mut self,
        _dial: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let end = self.0.take();
        Box::pin(async move {
            match end {
                Some(end) => Ok(Box::new(link(end)) as Box<dyn Link>),
                None => {
                    Err(ConnectionErrorKind::Unreachable("there was one pipe".to_owned()).into())
                }
            }
        })
    }

    fn describe(&self) -> String {
        "a pipe in memory".to_owned()
    }
}
