//! Links over byte streams that take as much as they like at a time.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use bowline::transport::{OutgoingFrame, SendError, StreamLink};
use bytes::Bytes;
use proptest::{collection::vec, prelude::*};
use tokio::io::AsyncWrite;

/// What happens to a link.
#[derive(Clone, Debug)]
enum Happening {
    /// A frame of so many bytes is to be sent.
    Send(usize),
    /// It is polled, and the stream takes as much as this, and then no more.
    Take(usize),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    // Around the size up to which frames are copied, and around what is kept
    // of the room for them.
    let sizes = prop_oneof![
        4 => 0_usize..200,
        2 => 4000_usize..4200,
        1 => 4000_usize..70_000,
    ];
    let takes = prop_oneof![3 => 0_usize..300, 1 => 0_usize..100_000];
    let happening = prop_oneof![
        3 => sizes.prop_map(Happening::Send),
        2 => takes.prop_map(Happening::Take),
    ];
    vec(happening, 1..80)
}

/// A stream that takes so many bytes, and then lets others wait.
#[derive(Clone, Default)]
struct Slow(Arc<Mutex<(usize, Vec<u8>)>>);

impl Slow {
    fn allow(&self, bytes: usize) {
        self.0.lock().expect("nobody panics").0 = bytes;
    }

    fn taken(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panics").1.clone()
    }

    fn take(&self, bytes: &[u8]) -> usize {
        let (left, taken) = &mut *self.0.lock().expect("nobody panics");
        let count = bytes.len().min(*left);
        *left -= count;
        taken.extend_from_slice(&bytes[..count]);
        count
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.take(bytes) {
            0 => Poll::Pending,
            count => Poll::Ready(Ok(count)),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices.iter().map(|slice| self.take(slice)).sum() {
            0 => Poll::Pending,
            count => Poll::Ready(Ok(count)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

proptest! {
    /// However little a stream takes at a time, what it was given in the end is
    /// what was accepted, in order, a frame to a line.
    #[test]
    fn frames_arrive_whole_and_in_order(happenings in happenings()) {
        let stream = Slow::default();
        let mut link = StreamLink::new(tokio::io::empty(), stream.clone(), 1 << 20, 1 << 18);
        let mut cx = Context::from_waker(Waker::noop());
        let mut accepted = Vec::new();
        for (number, happening) in happenings.into_iter().enumerate() {
            match happening {
                Happening::Send(size) => {
                    let letter = b'a' + (number % 26) as u8;
                    let frame = Bytes::from(vec![letter; size]);
                    match link.enqueue(OutgoingFrame { id: None, frame: frame.clone() }) {
                        Ok(()) => {
                            accepted.extend_from_slice(&frame);
                            accepted.push(b'\n');
                        }
                        Err(SendError::Busy(back)) => prop_assert_eq!(back, frame),
                        Err(other) => prop_assert!(false, "{:?}", other),
                    }
                }
                Happening::Take(bytes) => {
                    stream.allow(bytes);
                    let done = link.poll_write_queued(&mut cx).is_ready();
                    let taken = stream.taken();
                    prop_assert!(accepted.starts_with(&taken));
                    prop_assert_eq!(done, taken.len() == accepted.len());
                }
            }
        }
        stream.allow(usize::MAX);
        prop_assert!(link.poll_write_queued(&mut cx).is_ready());
        prop_assert!(stream.taken() == accepted);
    }
}
