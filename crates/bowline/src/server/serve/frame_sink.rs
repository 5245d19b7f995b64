//! The destination of a machine's frames without a link.

use bytes::Bytes;

use crate::proto::server::RequestKey;

/// Receives a machine's frames and routes them.
pub(crate) trait FrameSink: Send {
    /// Sends a frame, with the request it belongs to and whether it is a
    /// response.
    fn send(&mut self, request: Option<RequestKey>, is_response: bool, frame: Bytes);

    /// Returns whether so much is queued for a request that optional messages
    /// should be dropped.
    fn is_backlogged(&self, _request: RequestKey) -> bool {
        false
    }

    /// Notifies that a request was cancelled; no frames for it follow.
    fn cancelled(&mut self, _request: RequestKey) {}

    /// Closes the connection that carries the frames for a request, so its
    /// client resumes. Returns whether that is possible.
    fn release_connection(&mut self, _request: RequestKey) -> bool {
        false
    }
}
