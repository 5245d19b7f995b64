//! Plans of the faults that are injected into a link.

use std::collections::BTreeMap;

use bytes::Bytes;

/// The faults of one link. Frames are counted from 0, separately in each
/// direction.
///
/// ```
/// use bowline::testing::{FaultPlan, ReceiveFault, SendFault};
///
/// // The third frame from the server is truncated, and the link is cut instead
/// // of delivering the fifth.
/// let plan = FaultPlan::new()
///     .on_receive(2, ReceiveFault::Truncate)
///     .on_receive(4, ReceiveFault::Cut)
///     .on_send(0, SendFault::Busy(1));
/// # drop(plan);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    pub(super) receive_faults: BTreeMap<usize, ReceiveFault>,
    pub(super) send_faults: BTreeMap<usize, SendFault>,
    pub(super) max_bytes: Option<usize>,
}

/// A fault of a frame from the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReceiveFault {
    /// The link goes down instead.
    Cut,
    /// Neither it nor any later frame arrives, while the link stays up.
    Stall,
    /// These bytes arrive before it, as a frame.
    Garbage(Bytes),
    /// Only its first half arrives.
    Truncate,
    /// It is reported as oversized, with this size.
    Oversize(usize),
    /// It arrives twice.
    Duplicate,
    /// It and the following frames, this many in all, arrive in reverse order.
    Reverse(usize),
    /// It does not arrive.
    Drop,
}

/// A fault of a frame to the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SendFault {
    /// The link goes down instead.
    Cut,
    /// It is returned as busy, this many times.
    Busy(usize),
    /// It is refused, while the link stays up.
    Fail,
    /// It is accepted and never delivered.
    Drop,
}

impl FaultPlan {
    /// Creates a plan without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Injects a fault into frame number `index` from the server.
    #[must_use]
    pub fn on_receive(mut self, index: usize, fault: ReceiveFault) -> Self {
        self.receive_faults.insert(index, fault);
        self
    }

    /// Injects a fault into frame number `index` to the server.
    #[must_use]
    pub fn on_send(mut self, index: usize, fault: SendFault) -> Self {
        self.send_faults.insert(index, fault);
        self
    }

    /// Returns every frame to the server from number `index` on as busy: a
    /// reader that never keeps up.
    #[must_use]
    pub fn busy_from(self, index: usize) -> Self {
        self.on_send(index, SendFault::Busy(usize::MAX))
    }

    /// Cuts the link once this many bytes have passed, in both directions
    /// together.
    #[must_use]
    pub fn cut_after_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = Some(bytes);
        self
    }
}
