//! The checks of the transport contract.

use std::{future::Future, pin::pin, task::Poll};

use bytes::Bytes;
use tokio::join;

use super::{
    LinkPair, MAX_FRAME, Peer, PeerListener, dial, flush, next_event, next_frame, poll_flush_once,
    send, try_send, with_timeout,
};
use crate::transport::{Link, LinkEvent, SendError, Transport};

/// Number of small frames in a check.
const MANY_FRAMES: usize = 10_000;
/// Number of bytes after which a link must be busy if its other end does not
/// read.
const MAX_BUFFERED: usize = 256 * 1024 * 1024;

/// A transport describes its peer.
///
/// # Panics
///
/// Panics if it does not.
pub fn transport_describes_itself<T: Transport, F: PeerListener>((transport, _far): (T, F)) {
    let description = transport.describe();
    assert!(
        !description.trim().is_empty(),
        "`describe` returns an empty string"
    );
}

/// Frames of all kinds arrive whole, once, and in order, in both directions.
///
/// # Panics
///
/// Panics if they do not.
pub async fn frames_arrive_whole_and_in_order<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    let frames = assorted_frames();
    let sending = async {
        for sent in &frames {
            send(&mut link, sent).await;
        }
        flush(&mut link).await;
    };
    let arriving = async {
        for sent in &frames {
            let arrived = with_timeout("a frame", peer.recv()).await;
            assert_eq!(arrived.as_ref(), Some(sent), "towards the peer");
        }
    };
    join!(sending, arriving);
    let returned = async {
        for sent in &frames {
            peer.send(sent.clone()).await;
        }
    };
    let arriving = async {
        for sent in &frames {
            assert_eq!(&next_frame(&mut link).await, sent, "from the peer");
        }
    };
    join!(returned, arriving);
}

/// Frames of the maximum size arrive, in both directions.
///
/// # Panics
///
/// Panics if they do not.
pub async fn large_frames_arrive<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    let large = frame_with_size(MAX_FRAME);
    send(&mut link, &large).await;
    let arrived = while_driving(&mut link, peer.recv()).await;
    assert!(arrived.as_ref() == Some(&large), "towards the peer");
    let ((), arrived) = join!(peer.send(large.clone()), next_frame(&mut link));
    assert!(arrived == large, "from the peer");
}

/// A frame over the limit is reported: as such, or delivered whole for the
/// connection to refuse. The link does not hang.
///
/// # Panics
///
/// Panics if it is not reported.
pub async fn oversize_is_reported<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    let size = MAX_FRAME + 1;
    let sending = peer.send(frame_with_size(size));
    let mut sending = pin!(sending);
    // The peer may be left with bytes that are no longer read.
    let reported = tokio::select! {
        biased;
        reported = next_event(&mut link) => reported,
        () = &mut sending => next_event(&mut link).await,
    };
    match reported {
        LinkEvent::Frame(frame) => assert_eq!(frame.len(), size, "the frame was truncated"),
        LinkEvent::OversizedFrame { size: seen, prefix } => {
            assert!(seen > MAX_FRAME, "{seen} bytes do not exceed {MAX_FRAME}");
            assert!(
                frame_with_size(size).starts_with(&prefix),
                "not its first bytes"
            );
        }
        other => panic!("expected an oversized frame, got {other:?}"),
    }
}

/// Many small frames arrive, in both directions.
///
/// # Panics
///
/// Panics if a frame is lost or out of order.
pub async fn many_small_frames_arrive<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    let sending = async {
        for number in 0..MANY_FRAMES {
            send(&mut link, &numbered_frame(number)).await;
            if number % 100 == 0 {
                // Both ends run on one task, and both need to make progress.
                tokio::task::yield_now().await;
            }
        }
        flush(&mut link).await;
        for number in 0..MANY_FRAMES {
            assert_eq!(
                next_frame(&mut link).await,
                numbered_frame(number),
                "from the peer"
            );
        }
    };
    let returned = async {
        for number in 0..MANY_FRAMES {
            let arrived = with_timeout("a frame", peer.recv()).await;
            assert_eq!(arrived, Some(numbered_frame(number)), "towards the peer");
        }
        for number in 0..MANY_FRAMES {
            peer.send(numbered_frame(number)).await;
        }
    };
    join!(sending, returned);
}

/// A link whose other end does not read becomes busy before it holds too much,
/// returns the frame unchanged, and continues when it is read.
///
/// # Panics
///
/// Panics if it does not.
pub async fn backpressure_hands_back_and_drains<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    let mut accepted = 0;
    let refused = loop {
        let next = padded_frame(accepted);
        poll_flush_once(&mut link).await;
        match try_send(&mut link, &next) {
            Ok(()) => accepted += 1,
            Err(SendError::Busy(returned)) => break (next, returned),
            Err(error) => panic!("a slow reader must not cause {error:?}"),
        }
        let held = accepted * padded_frame(0).len();
        assert!(
            held < MAX_BUFFERED,
            "{held} bytes are queued, and the link is not busy"
        );
    };
    assert_eq!(refused.0, refused.1, "the frame that is handed back");
    for number in 0..accepted {
        let arrived = while_driving(&mut link, peer.recv()).await;
        assert_eq!(
            arrived,
            Some(padded_frame(number)),
            "what was taken arrives"
        );
    }
    send(&mut link, &refused.1).await;
    let arrived = while_driving(&mut link, peer.recv()).await;
    assert_eq!(
        arrived,
        Some(refused.0),
        "and so does what was offered again"
    );
}

/// When the other end closes, its frames still arrive; then the link goes down
/// with a reason, and refuses frames.
///
/// # Panics
///
/// Panics if it does not.
pub async fn peer_close_is_reported<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    for number in 0..10 {
        peer.send(numbered_frame(number)).await;
    }
    peer.close().await;
    for number in 0..10 {
        assert_eq!(
            next_frame(&mut link).await,
            numbered_frame(number),
            "sent before the end"
        );
    }
    match next_event(&mut link).await {
        LinkEvent::Down(cause) => assert!(!cause.to_string().is_empty(), "it has a cause"),
        other => panic!("expected the link to go down, got {other:?}"),
    }
    match try_send(&mut link, &numbered_frame(0)) {
        Err(SendError::Failed(_)) => {}
        other => panic!("expected a frame to be refused, got {other:?}"),
    }
    link.close();
}

/// Closing a link lets the other end read the sent frames, and then the end.
///
/// # Panics
///
/// Panics if it does not.
pub async fn close_ends_the_peer<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { mut link, mut peer } = dial(&mut transport, &mut listener).await;
    send(&mut link, &numbered_frame(1)).await;
    flush(&mut link).await;
    link.close();
    let arrived = with_timeout("what was sent", peer.recv()).await;
    assert_eq!(arrived, Some(numbered_frame(1)), "sent before the end");
    assert_eq!(with_timeout("the end", peer.recv()).await, None);
}

/// Dropping a link is noticed at the other end, too.
///
/// # Panics
///
/// Panics if it is not.
pub async fn drop_ends_the_peer<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let LinkPair { link, mut peer } = dial(&mut transport, &mut listener).await;
    drop(link);
    assert_eq!(with_timeout("the end", peer.recv()).await, None);
}

/// A transport can be dialled again, before and after its links end, and frames
/// arrive only on the link that they were sent on.
///
/// # Panics
///
/// Panics if it cannot, or frames arrive elsewhere.
pub async fn links_are_independent<T: Transport, F: PeerListener>(
    (mut transport, mut listener): (T, F),
) {
    let mut first = dial(&mut transport, &mut listener).await;
    let mut second = dial(&mut transport, &mut listener).await;
    second.peer.send(numbered_frame(2)).await;
    first.peer.send(numbered_frame(1)).await;
    assert_eq!(next_frame(&mut first.link).await, numbered_frame(1));
    assert_eq!(next_frame(&mut second.link).await, numbered_frame(2));
    first.link.close();
    assert_eq!(with_timeout("the end", first.peer.recv()).await, None);
    let mut third = dial(&mut transport, &mut listener).await;
    for (pair, number) in [(&mut second, 4), (&mut third, 5)] {
        send(&mut pair.link, &numbered_frame(number)).await;
        let arrived = while_driving(&mut pair.link, pair.peer.recv()).await;
        assert_eq!(arrived, Some(numbered_frame(number)));
    }
}

/// Waits for a step at the other end while the link writes its queue, as it
/// would in a connection.
async fn while_driving<O>(link: &mut Box<dyn Link>, step: impl Future<Output = O>) -> O {
    let mut step = pin!(step);
    let driven = std::future::poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        let Poll::Ready(output) = step.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        Poll::Ready(output)
    });
    with_timeout("the other end", driven).await
}

fn numbered_frame(number: usize) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","method":"count","params":{{"n":{number}}}}}"#).into()
}

/// A numbered frame of 64 KiB.
fn padded_frame(number: usize) -> Bytes {
    let padding = "x".repeat(64 * 1024 - 40);
    format!(r#"{{"n":{number:020},"p":"{padding}"}}"#).into()
}

/// A frame of exactly this size.
fn frame_with_size(size: usize) -> Bytes {
    let (head, tail) = (r#"{"p":""#, r#""}"#);
    let padding = "y".repeat(size - head.len() - tail.len());
    format!("{head}{padding}{tail}").into()
}

/// Frames that careless framing would break.
fn assorted_frames() -> Vec<Bytes> {
    let mut frames: Vec<Bytes> = vec![
        "{}".into(),
        r#"{"text":"grüße, 世界 \n \u0000 \\ \"quoted\""}"#.into(),
        "[1,2,3]".into(),
        r#"{"a":" spaces at the end "}"#.into(),
        "\u{2028}\u{2029}".into(),
    ];
    // Sizes around common buffer sizes.
    for size in [1023, 1024, 4095, 4096, 4097, 65_535, 65_536, 65_537] {
        frames.push(frame_with_size(size));
    }
    frames
}
