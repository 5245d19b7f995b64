//! The server's requests to us, while they are open.

use std::collections::BTreeMap;

use super::{Event, PeerRequest, core::Core};
use crate::jsonrpc::RequestId;

/// The open requests of the server's. Its ids are its own business: they may
/// collide with ours and mean nothing outside this table.
#[derive(Debug, Default)]
pub(super) struct Serving {
    open: BTreeMap<u64, RequestId>,
}

/// Why a request of the server's cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Its id is in use.
    Duplicate,
    /// There are too many at once.
    TooMany,
}

impl Serving {
    pub(super) fn open(
        &mut self,
        core: &mut Core,
        id: RequestId,
    ) -> Result<PeerRequest, NotOpened> {
        if self.find(&id).is_some() {
            return Err(NotOpened::Duplicate);
        }
        if self.open.len() >= core.config.max_server_requests {
            return Err(NotOpened::TooMany);
        }
        let request = PeerRequest(core.next_peer_request());
        self.open.insert(request.0, id);
        Ok(request)
    }

    /// The id to answer under, if the request is still open.
    pub(super) fn close(&mut self, request: PeerRequest) -> Option<RequestId> {
        self.open.remove(&request.0)
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
        open.find_map(|(request, known)| (known == id).then_some(PeerRequest(*request)))
    }
}
