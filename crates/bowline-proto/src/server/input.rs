//! What the driver tells the machine.

use bytes::Bytes;

/// Something that happened outside: on the link, or on the clock.
#[derive(Clone, Debug)]
pub enum Input {
    /// One frame arrived whole, without its line end.
    Frame(Bytes),
    /// A frame grew over the limit and was abandoned.
    Oversize {
        /// How large it was when it was abandoned.
        size: usize,
        /// Its first bytes, from which the id can often still be read.
        prefix: Bytes,
    },
    /// The link is gone.
    Closed,
    /// Time has passed. Give it whenever the deadline of
    /// [`Output::Idle`](super::Output::Idle) is reached.
    Tick,
}
