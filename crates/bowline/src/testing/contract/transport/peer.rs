//! The other end of a link under test.

use std::future::Future;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use crate::transport::{MemoryLink, MemoryListener};

/// Accepts the other ends of a transport's links, in the order in which they
/// were dialled.
pub trait PeerListener: Send {
    /// The other end of a link.
    type Peer: Peer;

    /// Accepts the other end of the next dialled link.
    fn accept(&mut self) -> impl Future<Output = Self::Peer> + Send;
}

/// The other end of a link. Dropping it closes it, too.
pub trait Peer: Send {
    /// Receives the next frame; `None` once the link is closed and all was
    /// read.
    fn recv(&mut self) -> impl Future<Output = Option<Bytes>> + Send;

    /// Sends a frame, waiting while the link is behind.
    fn send(&mut self, frame: Bytes) -> impl Future<Output = ()> + Send;

    /// Closes gracefully: frames that were sent before still arrive.
    fn close(self) -> impl Future<Output = ()> + Send;
}

impl PeerListener for MemoryListener {
    type Peer = MemoryLink;

    async fn accept(&mut self) -> MemoryLink {
        match Self::accept(self).await {
            Some(peer) => peer,
            None => panic!("the transport is gone"),
        }
    }
}

impl Peer for MemoryLink {
    async fn recv(&mut self) -> Option<Bytes> {
        Self::recv(self).await
    }

    async fn send(&mut self, frame: Bytes) {
        self.send_frame(frame).await;
    }

    async fn close(self) {}
}

/// The other end of a link over byte streams, with one frame per line.
#[derive(Debug)]
pub struct StreamPeer<R, W> {
    reader: BufReader<R>,
    writer: W,
}

impl<R: AsyncRead, W: AsyncWrite> StreamPeer<R, W> {
    /// Creates a peer that reads and writes lines.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            writer,
        }
    }
}

impl<R, W> Peer for StreamPeer<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    async fn recv(&mut self) -> Option<Bytes> {
        let mut line = Vec::new();
        // A broken stream counts as ended.
        let _ = self.reader.read_until(b'\n', &mut line).await;
        line.pop_if(|last| *last == b'\n')?;
        Some(line.into())
    }

    async fn send(&mut self, frame: Bytes) {
        // The check verifies whether it arrives.
        let _ = self.writer.write_all(&frame).await;
        let _ = self.writer.write_all(b"\n").await;
        let _ = self.writer.flush().await;
    }

    async fn close(mut self) {
        let _ = self.writer.shutdown().await;
    }
}
