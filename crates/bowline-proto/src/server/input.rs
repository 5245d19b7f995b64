//! Inputs of the state machine, given by the driver.

use bytes::Bytes;

/// Something that happened outside the machine, on the link or on the clock.
#[derive(Clone, Debug)]
pub enum Input {
    /// A complete frame arrived. It has no line ending.
    Frame(Bytes),
    /// A frame exceeded the limit and was not kept. Further frames may follow;
    /// report a link that cannot continue as [closed](Input::Closed).
    OversizedFrame {
        /// The frame's size when the limit was exceeded.
        size: usize,
        /// The frame's first bytes, from which the id can often still be read;
        /// or the first bytes of a message of the same kind and id.
        prefix: Bytes,
    },
    /// The link is lost.
    Closed,
    /// Time has passed. Send this when the deadline of
    /// [`Output::Idle`](super::Output::Idle) is reached.
    Tick,
}
