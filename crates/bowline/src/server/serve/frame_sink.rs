//! Where a machine's frames go, if not over a link.

use bytes::Bytes;

use crate::proto::server::RequestKey;

/// Takes what a machine says, frame by frame, and finds its way.
pub(crate) trait FrameSink: Send {
    /// A frame, the request that it is about, and whether it is an answer.
    fn send(&mut self, request: Option<RequestKey>, is_response: bool, frame: Bytes);

    /// Whether so much waits to be sent about a request that what can be left
    /// out should be.
    fn is_backlogged(&self, _request: RequestKey) -> bool {
        false
    }

    /// Nobody waits for the answer to a request any more; nothing about it
    /// follows.
    fn cancelled(&mut self, _request: RequestKey) {}

    /// Closes what carries the frames about a request, so that its client
    /// comes back for the rest. Says whether that can be done.
    fn release_connection(&mut self, _request: RequestKey) -> bool {
        false
    }
}
