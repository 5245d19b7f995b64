//! The transport contract.

mod checks;
mod peer;

use std::{future::poll_fn, time::Duration};

use bytes::Bytes;
use tokio::time::timeout;

pub use checks::{
    backpressure_hands_back_and_drains, close_ends_the_peer, drop_ends_the_peer,
    frames_arrive_whole_and_in_order, large_frames_arrive, links_are_independent,
    many_small_frames_arrive, oversize_is_reported, peer_close_is_reported,
    transport_describes_itself,
};
pub use peer::{Peer, PeerListener, StreamPeer};

use crate::transport::{DialOptions, Link, LinkEvent, OutgoingFrame, SendError, Transport};

/// Timeout of a single step. Far more than any step needs; a step that hangs
/// fails after this.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum frame size of links under test.
pub(crate) const MAX_FRAME: usize = 1024 * 1024;

/// Checks that a transport does what connections rely on. Each check runs on a
/// new transport from `make`, with the [`PeerListener`] that accepts the other
/// ends of its links.
///
/// 1. Frames arrive whole, once, and in the order in which they were sent,
///    however large or many.
/// 2. A frame over the limit is reported, and does not hang or exhaust the
///    link.
/// 3. `send` never waits. A link that cannot accept a frame returns it
///    unchanged as busy, has then queued a bounded number of bytes, and accepts
///    frames again once the other end has read.
/// 4. When the other end closes, everything it sent before arrives, and then
///    the link goes down. From then on it refuses frames.
/// 5. Closing a link, or just dropping it, is noticed at the other end.
/// 6. A transport can be dialled repeatedly, and its links are independent.
///
/// Each check is also a separate function, so a test suite can name the one
/// that fails.
///
/// ```
/// use bowline::{testing::contract, transport::Memory};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// contract::transport(Memory::new).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the contract is broken.
pub async fn transport<T: Transport, F: PeerListener>(mut make: impl FnMut() -> (T, F)) {
    transport_describes_itself(make());
    frames_arrive_whole_and_in_order(make()).await;
    large_frames_arrive(make()).await;
    oversize_is_reported(make()).await;
    many_small_frames_arrive(make()).await;
    backpressure_hands_back_and_drains(make()).await;
    peer_close_is_reported(make()).await;
    close_ends_the_peer(make()).await;
    drop_ends_the_peer(make()).await;
    links_are_independent(make()).await;
}

/// A link and its other end.
pub(crate) struct LinkPair<P> {
    pub(crate) link: Box<dyn Link>,
    pub(crate) peer: P,
}

/// Dials once.
pub(crate) async fn dial<T: Transport, F: PeerListener>(
    transport: &mut T,
    listener: &mut F,
) -> LinkPair<F::Peer> {
    let dial = DialOptions {
        max_frame_size: MAX_FRAME,
        ..DialOptions::default()
    };
    let dialled = with_timeout("the dial", transport.dial(dial)).await;
    let link = match dialled {
        Ok(link) => link,
        Err(cause) => panic!("the dial failed: {cause}"),
    };
    let peer = with_timeout("the other end", listener.accept()).await;
    LinkPair { link, peer }
}

/// Waits with a timeout.
pub(crate) async fn with_timeout<O>(description: &str, future: impl Future<Output = O>) -> O {
    match timeout(STEP_TIMEOUT, future).await {
        Ok(output) => output,
        Err(_) => panic!("timed out after {STEP_TIMEOUT:?} waiting for {description}"),
    }
}

/// Returns the next event while flushing the queue, as a connection does.
pub(crate) async fn next_event(link: &mut Box<dyn Link>) -> LinkEvent {
    let next = poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        link.poll_event(cx)
    });
    with_timeout("an event of the link", next).await
}

/// Returns the next event, which must be a frame.
pub(crate) async fn next_frame(link: &mut Box<dyn Link>) -> Bytes {
    match next_event(link).await {
        LinkEvent::Frame(frame) => frame,
        other => panic!("expected a frame, got {other:?}"),
    }
}

/// Tries to send a frame once.
pub(crate) fn try_send(link: &mut Box<dyn Link>, frame: &Bytes) -> Result<(), SendError> {
    link.send(OutgoingFrame {
        id: None,
        frame: frame.clone(),
    })
}

/// Sends a frame, retrying while the link is busy.
pub(crate) async fn send(link: &mut Box<dyn Link>, frame: &Bytes) {
    loop {
        match try_send(link, frame) {
            Ok(()) => return poll_flush_once(link).await,
            Err(SendError::Busy(_)) => {
                poll_flush_once(link).await;
                tokio::task::yield_now().await;
            }
            Err(error) => panic!("a frame was refused: {error:?}"),
        }
    }
}

/// Flushes the queue, as far as possible without waiting.
pub(crate) async fn poll_flush_once(link: &mut Box<dyn Link>) {
    poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        std::task::Poll::Ready(())
    })
    .await;
}

/// Flushes the whole queue.
pub(crate) async fn flush(link: &mut Box<dyn Link>) {
    with_timeout("flushing", poll_fn(|cx| link.poll_flush(cx))).await;
}
