//! The server's requests to us, while they are open.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Event, Link, PeerRequest, core::Core, timer::Timer};
use crate::{Instant, jsonrpc::RequestId};

/// The open requests of the server's. Its ids are its own business: they may
/// collide with ours and mean nothing outside this table.
#[derive(Debug, Default)]
pub(super) struct Serving {
    open: BTreeMap<u64, Open>,
    /// Answers that the link was too busy to take. The server waits for them.
    unsent: Vec<Bytes>,
}

#[derive(Debug)]
struct Open {
    id: RequestId,
    /// How much its parameters hold.
    bytes: usize,
}

/// Why a request of the server's cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Its id is in use.
    Duplicate,
    /// There are too many at once, or they hold too much.
    TooMany,
}

impl Serving {
    pub(super) fn open(
        &mut self,
        core: &mut Core,
        id: RequestId,
        bytes: usize,
    ) -> Result<PeerRequest, NotOpened> {
        if self.find(&id).is_some() {
            return Err(NotOpened::Duplicate);
        }
        let held: usize = self.open.values().map(|open| open.bytes).sum();
        // One alone has had room in its frame.
        if self.open.len() >= core.config.max_server_requests
            || held + bytes > core.config.max_frame
        {
            return Err(NotOpened::TooMany);
        }
        let request = PeerRequest(core.next_peer_request());
        self.open.insert(request.0, Open { id, bytes });
        Ok(request)
    }

    /// The id to answer under, if the request is still open.
    pub(super) fn close(&mut self, request: PeerRequest) -> Option<RequestId> {
        self.open.remove(&request.0).map(|open| open.id)
    }

    /// Keeps an answer that the link did not take, and asks to be woken.
    pub(super) fn put_off(&mut self, core: &mut Core, now: Instant, answer: Bytes) {
        // Never more than can be open: a server that goes on asking without
        // reading has itself to blame.
        if self.unsent.len() < core.config.max_server_requests {
            self.unsent.push(answer);
        }
        let (delay, share) = (core.config.busy.delay, core.config.busy.jitter);
        // An answer has no deadline of its own that would end the tries, so
        // they are rarer than those of a request.
        let delay = core.rng.jitter(delay.saturating_mul(10), share);
        core.timers.arm(Timer::Answers, now + delay);
    }

    /// Offers the answers again that the link did not take.
    pub(super) fn offer_again(&mut self, core: &mut Core, link: Link) {
        for answer in std::mem::take(&mut self.unsent) {
            core.send(link, None, answer);
        }
    }

    /// The server does not want the answer any more.
    pub(super) fn withdraw(&mut self, core: &mut Core, id: &RequestId) {
        if let Some(request) = self.find(id) {
            self.open.remove(&request.0);
            core.event(Event::RequestWithdrawn { request });
        }
    }

    /// The session is over.
    pub(super) fn withdraw_all(&mut self, core: &mut Core) {
        for (request, _) in std::mem::take(&mut self.open) {
            core.event(Event::RequestWithdrawn {
                request: PeerRequest(request),
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    fn find(&self, id: &RequestId) -> Option<PeerRequest> {
        let mut open = self.open.iter();
        open.find_map(|(request, known)| (known.id == *id).then_some(PeerRequest(*request)))
    }
}
