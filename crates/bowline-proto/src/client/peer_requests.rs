//! The server's requests to us, while they are open.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Event, LinkId, PeerRequestId, core::Core, timer::Timer};
use crate::{Instant, jsonrpc::RequestId};

/// The open requests of the server's. Its ids are its own business: they may
/// collide with ours and mean nothing outside this table.
#[derive(Debug, Default)]
pub(super) struct PeerRequests {
    open: BTreeMap<u64, OpenPeerRequest>,
    /// Answers that the link was too busy to take. The server waits for them.
    deferred: Vec<Bytes>,
}

#[derive(Debug)]
struct OpenPeerRequest {
    id: RequestId,
    /// How much its parameters hold.
    bytes: usize,
}

/// Why a request of the server's cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenRequestError {
    /// Its id is in use.
    Duplicate,
    /// There are too many at once, or they hold too much.
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
        // One alone has had room in its frame.
        if self.open.len() >= core.config.max_server_requests
            || buffered + bytes > core.config.max_frame_size
        {
            return Err(OpenRequestError::TooMany);
        }
        let request = PeerRequestId(core.next_peer_request());
        self.open.insert(request.0, OpenPeerRequest { id, bytes });
        Ok(request)
    }

    /// The id to answer under, if the request is still open.
    pub(super) fn close(&mut self, request: PeerRequestId) -> Option<RequestId> {
        self.open.remove(&request.0).map(|open| open.id)
    }

    /// Keeps an answer that the link did not take, and asks to be woken.
    pub(super) fn defer_response(&mut self, core: &mut Core, now: Instant, frame: Bytes) {
        // Never more than can be open: a server that goes on asking without
        // reading has itself to blame.
        if self.deferred.len() < core.config.max_server_requests {
            self.deferred.push(frame);
        }
        let (delay, jitter) = (core.config.busy_retry.delay, core.config.busy_retry.jitter);
        // An answer has no deadline of its own that would end the tries, so
        // they are rarer than those of a request.
        let delay = core.rng.jitter(delay.saturating_mul(10), jitter);
        core.timers.arm(Timer::ResendDeferred, now + delay);
    }

    /// Offers the answers again that the link did not take.
    pub(super) fn resend_deferred(&mut self, core: &mut Core, link: LinkId) {
        for frame in std::mem::take(&mut self.deferred) {
            core.send(link, None, frame);
        }
    }

    /// The server does not want the answer any more.
    pub(super) fn cancel(&mut self, core: &mut Core, id: &RequestId) {
        if let Some(request) = self.find(id) {
            self.open.remove(&request.0);
            core.push_event(Event::RequestWithdrawn { request });
        }
    }

    /// The session is over.
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
