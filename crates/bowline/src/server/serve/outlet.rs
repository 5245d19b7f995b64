//! Where a machine's frames go, if not over a link.

use bytes::Bytes;

use crate::proto::server::Incoming;

/// Takes what a machine says, frame by frame, and finds its way.
pub(crate) trait Outlet: Send {
    /// A frame, the request that it is about, and whether it is an answer.
    fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes);

    /// Whether so much waits to be sent about a request that what can be left
    /// out should be.
    fn is_behind(&self, _request: Incoming) -> bool {
        false
    }

    /// Nobody waits for the answer to a request any more; nothing about it
    /// follows.
    fn called_off(&mut self, _request: Incoming) {}

    /// Closes what carries the frames about a request, so that its client
    /// comes back for the rest. Says whether that can be done.
    fn pause(&mut self, _request: Incoming) -> bool {
        false
    }
}
