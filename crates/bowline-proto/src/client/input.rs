//! Input from the driver to the state machine.

use bytes::Bytes;

use super::{ConnectionError, LinkId, SendError};

/// An external event: on the link, or on the clock.
///
/// Every event from a link names the link. Input from an old link is rejected before it
/// reaches the state machine.
#[derive(Clone, Debug)]
pub enum Input {
    /// The dial succeeded: the link carries frames now.
    Up {
        /// The link that was dialled.
        link: LinkId,
    },
    /// The dial failed: there is no link.
    DialFailed {
        /// The link that was dialled.
        link: LinkId,
        /// The cause.
        cause: ConnectionError,
    },
    /// A complete frame arrived.
    Frame {
        /// The link it arrived on.
        link: LinkId,
        /// The frame, without its line terminator.
        frame: Bytes,
    },
    /// A frame exceeded the size limit and was discarded. Frames may follow; if they
    /// cannot, the link is [down](Input::Down).
    OversizedFrame {
        /// The link it arrived on.
        link: LinkId,
        /// The size of the frame when it was discarded.
        size: usize,
        /// The first bytes of the frame, from which the id can often be read, or the
        /// first bytes of a message with the same kind and id.
        prefix: Bytes,
    },
    /// The link is closed.
    Down {
        /// The link.
        link: LinkId,
        /// The cause, as far as the transport knows it.
        cause: ConnectionError,
    },
    /// The link did not accept or could not deliver a frame.
    SendFailed {
        /// The link.
        link: LinkId,
        /// The request id from [`Output::Send`](super::Output::Send); `None` for
        /// notifications and responses.
        id: Option<u64>,
        /// The error.
        error: SendError,
    },
    /// Time has passed. Send it when the deadline of
    /// [`Output::Idle`](super::Output::Idle) is reached.
    Tick,
}
