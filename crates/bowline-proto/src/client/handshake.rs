//! Handshake-era sessions: the server sends requests, and subscriptions are requests.

use bytes::Bytes;

use super::{
    Event, LinkId, PeerRequestId, Violation,
    core::Core,
    desired_state::DesiredChange,
    peer_requests::{OpenRequestError, PeerRequests},
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, OutgoingMessage, RawJson, RequestId, code, error_response,
        response_raw, scan,
    },
    model::{SetLevelParams, SubscribeParams, UnsubscribeParams, method},
};

/// A handshake-era session.
#[derive(Debug)]
pub(super) struct HandshakeSession {
    link: LinkId,
    /// Open requests from the server.
    peer_requests: PeerRequests,
}

impl HandshakeSession {
    pub(super) fn new(link: LinkId) -> Self {
        Self {
            link,
            peer_requests: PeerRequests::default(),
        }
    }

    /// Sends `notifications/initialized`.
    pub(super) fn send_initialized(&self, core: &mut Core) {
        let frame = OutgoingMessage::without_params(method::INITIALIZED).into_notification();
        core.send(self.link, None, frame);
    }

    /// Returns the requests that restore the desired state.
    pub(super) fn restore(&self, core: &Core) -> Vec<(DesiredChange, Option<OutgoingMessage>)> {
        let level = core.desired.log_level.clone().map(DesiredChange::SetLevel);
        let uris = core.desired.uris.iter().cloned();
        let changes = level.into_iter().chain(uris.map(DesiredChange::Subscribe));
        let request = |change: DesiredChange| {
            let message = Self::message(&change);
            (change, message)
        };
        changes.map(request).collect()
    }

    /// Returns the request for a change of the desired state.
    pub(super) fn message(change: &DesiredChange) -> Option<OutgoingMessage> {
        let method = change.method();
        let message = match change {
            DesiredChange::Subscribe(uri) => {
                OutgoingMessage::new(method, &SubscribeParams::new(&**uri))
            }
            DesiredChange::Unsubscribe(uri) => {
                OutgoingMessage::new(method, &UnsubscribeParams::new(&**uri))
            }
            DesiredChange::SetLevel(level) => {
                OutgoingMessage::new(method, &SetLevelParams::new(level.clone()))
            }
        };
        message.ok()
    }
}

/// Requests from the server.
impl HandshakeSession {
    pub(super) fn peer_request_count(&self) -> usize {
        self.peer_requests.len()
    }

    pub(super) fn deliver_request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        method: &str,
        params: Option<Bytes>,
    ) -> Result<(), ErrorObject> {
        let size = params.as_ref().map_or(0, Bytes::len);
        match self.peer_requests.open(core, id.clone(), size) {
            Ok(request) => {
                let method = method.into();
                core.push_event(Event::Request {
                    request,
                    method,
                    params,
                });
                core.pause_deadlines(now);
                Ok(())
            }
            Err(OpenRequestError::Duplicate) => {
                core.report_violation(Violation::DuplicateId, size);
                Err(ErrorObject::new(
                    code::INVALID_REQUEST,
                    "the request id is already in use",
                ))
            }
            Err(OpenRequestError::TooMany) => {
                core.report_violation(Violation::TooManyRequests, size);
                Err(ErrorObject::new(
                    code::INTERNAL_ERROR,
                    "too many concurrent requests",
                ))
            }
        }
    }

    pub(super) fn respond(
        &mut self,
        core: &mut Core,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        if let Some(id) = self.peer_requests.close(request) {
            let frame = match reply {
                Ok(result) => response_raw(&id, result.get().as_bytes()),
                Err(error) => error_response(Some(&id), &error),
            };
            core.send(self.link, None, frame);
            self.resume_deadlines_if_idle(core, now);
        }
    }

    /// Keeps a frame that the link was too busy to accept, if it is a response: a
    /// notification is sent only once.
    pub(super) fn defer_response(&mut self, core: &mut Core, now: Instant, frame: Bytes) {
        if is_response(&frame) {
            self.peer_requests.defer_response(core, now, frame);
        }
    }

    pub(super) fn resend_deferred(&mut self, core: &mut Core) {
        self.peer_requests.resend_deferred(core, self.link);
    }

    pub(super) fn request_cancelled(&mut self, core: &mut Core, now: Instant, id: &RequestId) {
        self.peer_requests.cancel(core, id);
        self.resume_deadlines_if_idle(core, now);
    }

    pub(super) fn cancel_peer_requests(&mut self, core: &mut Core) {
        self.peer_requests.cancel_all(core);
    }

    fn resume_deadlines_if_idle(&self, core: &mut Core, now: Instant) {
        if self.peer_requests.len() == 0 {
            core.resume_deadlines(now);
        }
    }
}

/// Returns whether an outgoing frame is a response.
fn is_response(frame: &[u8]) -> bool {
    matches!(
        scan(frame),
        Ok(Envelope::Response { .. } | Envelope::Error { .. })
    )
}
