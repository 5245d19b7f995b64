//! Which frames of a link come to harm, and how.

use std::collections::BTreeMap;

use bytes::Bytes;

/// What becomes of the frames of one link. Frames are counted from 0, apart in
/// each direction.
///
/// ```
/// use bowline::testing::{FaultPlan, ReceiveFault, SendFault};
///
/// // The third frame from the server arrives as half a frame, and the one
/// // after it is the last thing that is ever heard.
/// let plan = FaultPlan::new()
///     .receive(2, ReceiveFault::Truncate)
///     .receive(4, ReceiveFault::Cut)
///     .send(0, SendFault::Busy(1));
/// # drop(plan);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    pub(super) receive_faults: BTreeMap<usize, ReceiveFault>,
    pub(super) send_faults: BTreeMap<usize, SendFault>,
    pub(super) max_bytes: Option<usize>,
}

/// What becomes of a frame from the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReceiveFault {
    /// The link dies instead.
    Cut,
    /// Neither it nor anything later arrives, and the link lives.
    Stall,
    /// These bytes arrive before it, as a frame.
    Garbage(Bytes),
    /// Its first half arrives.
    Truncate,
    /// It is reported as over the limit, of this size.
    Oversize(usize),
    /// It arrives twice.
    Duplicate,
    /// It and those that follow, this many in all, arrive in reverse order.
    Reverse(usize),
    /// It does not arrive.
    Drop,
}

/// What becomes of a frame to the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SendFault {
    /// The link dies instead.
    Cut,
    /// It is handed back as busy, this many times.
    Busy(usize),
    /// It is refused, while the link lives.
    Fail,
    /// It is taken and never delivered.
    Drop,
}

impl FaultPlan {
    /// No harm.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Harms the frame from the server that is number `at`.
    #[must_use]
    pub fn on_receive(mut self, index: usize, fault: ReceiveFault) -> Self {
        self.receive_faults.insert(index, fault);
        self
    }

    /// Harms the frame to the server that is number `at`.
    #[must_use]
    pub fn on_send(mut self, index: usize, fault: SendFault) -> Self {
        self.send_faults.insert(index, fault);
        self
    }

    /// Hands every frame to the server from number `at` on back as busy: a
    /// reader that does not keep up, ever.
    #[must_use]
    pub fn busy_from(self, index: usize) -> Self {
        self.on_send(index, SendFault::Busy(usize::MAX))
    }

    /// Lets the link die once this many bytes have passed, in both directions
    /// together.
    #[must_use]
    pub fn cut_after_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = Some(bytes);
        self
    }
}
