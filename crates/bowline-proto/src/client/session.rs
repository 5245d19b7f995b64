//! The open session: the one place where an open connection branches on the era.
//!
//! Each method asks the session of its era. A new era is a new variant, and the compiler
//! lists what it must answer.

use bytes::Bytes;

use super::{
    CallId, LinkId, PeerRequestId, SendError, ServerInfo, core::Core, desired_state::DesiredChange,
    handshake::HandshakeSession, stateless::StatelessSession,
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson, RequestId},
    revision::{Era, Rules},
};

/// The session of one era.
#[derive(Debug)]
pub(super) enum Session {
    Handshake(HandshakeSession),
    Stateless(StatelessSession),
}

/// What a result means for its call.
pub(super) enum ResultKind {
    Complete,
    InputRequired,
    Invalid(String),
}

impl Session {
    pub(super) fn new(core: &Core, link: LinkId, rules: &'static Rules) -> Self {
        match rules.era {
            Era::Handshake => Self::Handshake(HandshakeSession::new(link)),
            Era::Stateless => Self::Stateless(StatelessSession::new(core, link, rules)),
        }
    }

    /// Completes the opening, before anything else is sent.
    pub(super) fn start(&self, core: &mut Core) {
        match self {
            Self::Handshake(session) => session.send_initialized(core),
            Self::Stateless(_) => {}
        }
    }

    /// Returns whether the server keeps a session, which calls can be bound to and
    /// which can be lost.
    pub(super) fn is_kept_by_server(&self) -> bool {
        matches!(self, Self::Handshake(_))
    }

    /// Returns whether the server may answer a call with questions, which the next
    /// round of the call answers.
    pub(super) fn has_input_rounds(&self) -> bool {
        matches!(self, Self::Stateless(_))
    }

    /// Returns the `_meta` members that every request carries, or every request that
    /// declares that this client can follow tasks.
    pub(super) fn common_meta(&self, declares_tasks: bool) -> &[u8] {
        match self {
            Self::Handshake(_) => &[],
            Self::Stateless(session) => session.common_meta(declares_tasks),
        }
    }

    /// Returns what a result with this `resultType` means for its call.
    pub(super) fn classify_result(
        &self,
        core: &Core,
        id: CallId,
        result_type: Option<&str>,
    ) -> ResultKind {
        match (self, result_type) {
            (Self::Stateless(session), Some(kind)) => session.classify_result(core, id, kind),
            // Handshake revisions have no such field; servers that omit it mean
            // "complete".
            (Self::Handshake(_), _) | (Self::Stateless(_), None) => ResultKind::Complete,
        }
    }
}

/// The desired state.
impl Session {
    /// Restores the desired state. Returns the changes that have to be requested.
    pub(super) fn restore(
        &mut self,
        core: &mut Core,
        now: Instant,
    ) -> Vec<(DesiredChange, Option<OutgoingMessage>)> {
        match self {
            Self::Handshake(session) => session.restore(core),
            Self::Stateless(session) => {
                session.refresh_subscriptions(core, now);
                Vec::new()
            }
        }
    }

    /// Returns the request for a change, or makes the change if it needs no request.
    pub(super) fn change(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        change: DesiredChange,
        server: &ServerInfo,
    ) -> Option<OutgoingMessage> {
        match self {
            Self::Handshake(_) => HandshakeSession::message(&change),
            Self::Stateless(session) => {
                session.change(core, now, id, change, server);
                None
            }
        }
    }

    /// Updates the subscription stream after the desired lists or resources changed.
    pub(super) fn refresh_subscriptions(&mut self, core: &mut Core, now: Instant) {
        match self {
            Self::Handshake(_) => {}
            Self::Stateless(session) => session.refresh_subscriptions(core, now),
        }
    }

    /// Opens the subscription stream again when it is time.
    pub(super) fn reopen_subscription_stream(&mut self, core: &mut Core, now: Instant) {
        match self {
            Self::Handshake(_) => {}
            Self::Stateless(session) => session.reopen_subscription_stream(core, now),
        }
    }

    /// Handles the acknowledgement of a subscription stream.
    pub(super) fn stream_acknowledged(
        &mut self,
        core: &mut Core,
        now: Instant,
        params: Option<&[u8]>,
    ) {
        match self {
            Self::Handshake(_) => {}
            Self::Stateless(session) => session.stream_acknowledged(core, now, params),
        }
    }

    /// Handles the end of a subscription stream. Returns whether `wire_id` is one.
    pub(super) fn stream_ended(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        error: Option<&ErrorObject>,
    ) -> bool {
        match self {
            Self::Handshake(_) => false,
            Self::Stateless(session) => session.stream_ended(core, now, wire_id, error),
        }
    }

    /// Handles a subscription stream that could not be requested.
    pub(super) fn stream_failed(
        &mut self,
        core: &mut Core,
        now: Instant,
        wire_id: u64,
        error: &SendError,
    ) {
        match self {
            Self::Handshake(_) => {}
            Self::Stateless(session) => session.stream_failed(core, now, wire_id, error),
        }
    }

    /// Returns whether a change comes from a stream that we closed or never opened.
    pub(super) fn is_stale_change(&self, params: Option<&[u8]>) -> bool {
        match self {
            Self::Handshake(_) => false,
            Self::Stateless(session) => session.is_stale_change(params),
        }
    }
}

/// Requests from the server.
impl Session {
    /// Returns whether the server may send requests.
    pub(super) fn accepts_requests(&self) -> bool {
        matches!(self, Self::Handshake(_))
    }

    pub(super) fn peer_request_count(&self) -> usize {
        match self {
            Self::Handshake(session) => session.peer_request_count(),
            Self::Stateless(_) => 0,
        }
    }

    /// Delivers a request to the host.
    pub(super) fn deliver_request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        method: &str,
        params: Option<Bytes>,
    ) -> Result<(), ErrorObject> {
        match self {
            Self::Handshake(session) => session.deliver_request(core, now, id, method, params),
            Self::Stateless(_) => Ok(()),
        }
    }

    /// Sends the host's response to a request, if it is still open.
    pub(super) fn respond(
        &mut self,
        core: &mut Core,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        match self {
            Self::Handshake(session) => session.respond(core, now, request, reply),
            Self::Stateless(_) => {}
        }
    }

    /// Keeps a response that the link was too busy to accept.
    pub(super) fn defer_response(&mut self, core: &mut Core, now: Instant, frame: Bytes) {
        match self {
            Self::Handshake(session) => session.defer_response(core, now, frame),
            Self::Stateless(_) => {}
        }
    }

    /// Sends the responses again that the link was too busy to accept.
    pub(super) fn resend_deferred(&mut self, core: &mut Core) {
        match self {
            Self::Handshake(session) => session.resend_deferred(core),
            Self::Stateless(_) => {}
        }
    }

    /// Handles a cancellation by the server: of its own request, or of a subscription
    /// stream.
    pub(super) fn cancelled_by_server(&mut self, core: &mut Core, now: Instant, id: &RequestId) {
        match self {
            Self::Handshake(session) => session.request_cancelled(core, now, id),
            Self::Stateless(session) => {
                if let Some(wire_id) = id.as_u64() {
                    session.stream_ended(core, now, wire_id, None);
                }
            }
        }
    }

    /// Withdraws all open requests when the session ends.
    pub(super) fn cancel_peer_requests(&mut self, core: &mut Core) {
        match self {
            Self::Handshake(session) => session.cancel_peer_requests(core),
            Self::Stateless(_) => {}
        }
    }
}
