//! Our transports and stores satisfy the contracts, and broken stores do not.

#[cfg(feature = "server")]
mod broken;
#[cfg(feature = "server")]
mod stores;

use bowline::{
    testing::{
        FaultyTransport,
        contract::{self, PeerListener, StreamPeer},
    },
    transport::{BoxFuture, ConnectionError, DialOptions, Link, Memory, StreamLink, Transport},
};
use tokio::{
    io::{DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::mpsc,
};

#[tokio::test]
async fn memory_keeps_it() {
    contract::transport(Memory::new).await;
}

#[tokio::test]
async fn faults_that_do_no_harm_keep_it() {
    contract::transport(|| {
        let (transport, far) = Memory::new();
        (FaultyTransport::new(transport), far)
    })
    .await;
}

#[tokio::test]
async fn byte_streams_keep_it() {
    contract::transport(Duplex::new).await;
}

#[cfg(unix)]
#[tokio::test]
async fn child_processes_keep_it() {
    contract::transport(crate::process::relay::pair).await;
}

/// A transport as a third party would write it: over byte streams in memory.
struct Duplex {
    dialled: mpsc::UnboundedSender<DuplexStream>,
}

struct DuplexFar {
    dialled: mpsc::UnboundedReceiver<DuplexStream>,
}

impl Duplex {
    fn new() -> (Self, DuplexFar) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { dialled: sender }, DuplexFar { dialled: receiver })
    }
}

impl Transport for Duplex {
    fn dial(
        &mut self,
        dial: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let (near, far) = duplex(16 * 1024);
        let (reader, writer) = split(near);
        let sent = self.dialled.send(far);
        Box::pin(async move {
            sent.expect("the far side is there");
            let link = StreamLink::new(reader, writer, dial.max_frame_size, 256 * 1024);
            Ok(Box::new(link) as Box<dyn Link>)
        })
    }

    fn describe(&self) -> String {
        "a pair of streams".to_owned()
    }
}

impl PeerListener for DuplexFar {
    type Peer = StreamPeer<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    async fn accept(&mut self) -> Self::Peer {
        let far = self.dialled.recv().await.expect("a link was dialled");
        let (reader, writer) = split(far);
        StreamPeer::new(reader, writer)
    }
}
