//! Open requests from the server.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Event, LinkId, PeerRequestId, core::Core, timer::Timer};
use crate::{Instant, jsonrpc::RequestId};

/// The table of open requests from the server. The server chooses the ids: they may
/// collide with ours and mean nothing outside this table.
#[derive(Debug, Default)]
pub(super) struct PeerRequests {
    open: BTreeMap<u64, OpenPeerRequest>,
    /// Responses that the link was too busy to accept. The server waits for them.
    deferred: Vec<Bytes>,
}

#[derive(Debug)]
struct OpenPeerRequest {
    id: RequestId,
    /// The size of its parameters.
    bytes: usize,
}

/// Why a request from the server cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenRequestError {
    /// The id is already in use.
    Duplicate,
    /// Too many requests are open, or their combined size is too large.
    TooMany,
}

impl PeerRequests {
    pub(super) fn open(
        &mut self,
        core: &mut Core,
        id: RequestId,
        bytes: usize,
    ) -> Result<PeerRequestId, OpenRequestError> {
        if self.find(&id).is_some() {
            return Err(OpenRequestError::Duplicate);
        }
        let buffered: usize = self.open.values().map(|open| open.bytes).sum();
        // A single request fits: it arrived in one frame.
        if self.open.len() >= core.config.max_server_requests
            || buffered + bytes > core.config.max_frame_size
        {
            return Err(OpenRequestError::TooMany);
        }
        let request = PeerRequestId(core.next_peer_request());
        self.open.insert(request.0, OpenPeerRequest { id, bytes });
        Ok(request)
    }

    /// Closes a request and returns the id to respond with, if it is still open.
    pub(super) fn close(&mut self, request: PeerRequestId) -> Option<RequestId> {
        self.open.remove(&request.0).map(|open| open.id)
    }

    /// Keeps a response that the link did not accept, and arms a timer.
    pub(super) fn defer_response(&mut self, core: &mut Core, now: Instant, frame: Bytes) {
        // At most as many as can be open. More are dropped: that server keeps sending
        // requests without reading the responses.
        if self.deferred.len() < core.config.max_server_requests {
            self.deferred.push(frame);
        }
        let (delay, jitter) = (
            core.config.queue_full_retry.delay,
            core.config.queue_full_retry.jitter,
        );
        // A response has no deadline that would end the attempts, so they are less
        // frequent than those of a request.
        let delay = core.rng.jitter(delay.saturating_mul(10), jitter);
        core.timers.arm(Timer::ResendDeferred, now + delay);
    }

    /// Sends the deferred responses again.
    pub(super) fn resend_deferred(&mut self, core: &mut Core, link: LinkId) {
        for frame in std::mem::take(&mut self.deferred) {
            core.send(link, None, frame);
        }
    }

    /// Handles the server's cancellation of a request.
    pub(super) fn cancel(&mut self, core: &mut Core, id: &RequestId) {
        if let Some(request) = self.find(id) {
            self.open.remove(&request.0);
            core.push_event(Event::RequestWithdrawn { request });
        }
    }

    /// Cancels all requests when the session ends.
    pub(super) fn cancel_all(&mut self, core: &mut Core) {
        for (request, _) in std::mem::take(&mut self.open) {
            core.push_event(Event::RequestWithdrawn {
                request: PeerRequestId(request),
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    fn find(&self, id: &RequestId) -> Option<PeerRequestId> {
        let mut open = self.open.iter();
        open.find_map(|(request, known)| (known.id == *id).then_some(PeerRequestId(*request)))
    }
}
