//! What the driver tells the machine.

use bytes::Bytes;

/// Something that happened outside: on the link, or on the clock.
#[derive(Clone, Debug)]
pub enum Input {
    /// One frame arrived whole, without its line end.
    Frame(Bytes),
    /// A frame grew over the limit and was not kept. Frames may follow it; a
    /// link on which they cannot is [closed](Input::Closed).
    OversizedFrame {
        /// How large it was when that was known.
        size: usize,
        /// Its first bytes, from which the id can often still be read; or the
        /// first bytes of a message of the same kind and id.
        prefix: Bytes,
    },
    /// The link is gone.
    Closed,
    /// Time has passed. Give it whenever the deadline of
    /// [`Output::Idle`](super::Output::Idle) is reached.
    Tick,
}
