//! A child process whose standard streams are a socket of the test's.

use std::net::{Ipv4Addr, TcpListener as StdListener};

use bowline::{
    testing::contract::{PeerListener, StreamPeer},
    transport::ChildProcess,
};
use tokio::net::{
    TcpListener,
    tcp::{OwnedReadHalf, OwnedWriteHalf},
};

use super::faulty;

/// Where the children that a [`pair`] starts connect to.
pub(crate) struct Relays {
    listener: TcpListener,
}

/// A transport that starts a child, and where the child's streams come out.
pub(crate) fn pair() -> (ChildProcess, Relays) {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener
        .set_nonblocking(true)
        .expect("the listener becomes tokio's");
    let port = listener.local_addr().expect("it is bound").port();
    let listener = TcpListener::from_std(listener).expect("there is a runtime");
    let transport = faulty("relay").arg(port.to_string());
    (transport, Relays { listener })
}

impl PeerListener for Relays {
    type Peer = StreamPeer<OwnedReadHalf, OwnedWriteHalf>;

    async fn accept(&mut self) -> Self::Peer {
        let (stream, _) = self.listener.accept().await.expect("the child connects");
        let (reader, writer) = stream.into_split();
        StreamPeer::new(reader, writer)
    }
}
