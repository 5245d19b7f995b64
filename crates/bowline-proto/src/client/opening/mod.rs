//! The `Opening` state: probe the era, negotiate the revision.
//!
//! The probe `server/discover` is sent first, to find out whether the server speaks the
//! stateless era. Everything except a clear yes leads to the handshake. Which errors
//! are evidence of the era and which are failures depends on the transport.

mod response;

use std::time::Duration;

use bytes::Bytes;

use super::{
    ConnectionError, ConnectionErrorKind, HttpVariant, LinkId, Output, SendError, TransportKind,
    Violation,
    core::Core,
    offered_revisions::{handshake_revisions, stateless_revision},
    redial::{Disconnect, RedialPolicy, disconnect},
    request_meta::RequestMeta,
    state::State,
    stateless::common_meta,
    timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{
        Envelope, ErrorObject, OutgoingMessage, RequestId, decode, response_raw, scan, scan_partial,
    },
    model::{Adapt, DiscoverResult, InitializeParams, method},
    revision::Era,
};

/// How often the opening timeout is doubled for a server that is reachable but slow.
const MAX_DOUBLINGS: u32 = 3;

/// A session that is being opened.
#[derive(Debug)]
pub(super) struct Opening {
    link: LinkId,
    phase: Phase,
    /// The number of probes sent on this link.
    probes: u32,
    /// The id of a probe that was not answered in time.
    late_probe: Option<u64>,
    /// The late response to the probe. Used only if the handshake is refused.
    late_discovery: Option<Box<DiscoverResult>>,
    /// Whether the server has sent an invalid frame.
    saw_invalid_frame: bool,
}

#[derive(Debug)]
enum Phase {
    /// The link is not up yet.
    Dialing,
    /// `server/discover` was sent.
    Probing { id: u64 },
    /// `initialize` was sent.
    Initializing { id: u64 },
}

impl Opening {
    /// Dials a link. The opening timeout counts from here, so a link that never comes
    /// up cannot hang the connection.
    pub(super) fn dial(core: &mut Core, now: Instant) -> State {
        let link = core.next_link();
        core.timers.arm(Timer::Opening, now + opening_timeout(core));
        let (attempt, http_variant) = (core.failed_attempts, core.http_variant);
        core.push_output(Output::Dial {
            link,
            attempt,
            http_variant,
        });
        State::Opening(Box::new(Self {
            link,
            phase: Phase::Dialing,
            probes: 0,
            late_probe: None,
            late_discovery: None,
            saw_invalid_frame: false,
        }))
    }

    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    /// Returns whether the link is up and frames may be read.
    pub(super) fn is_up(&self) -> bool {
        !matches!(self.phase, Phase::Dialing)
    }

    pub(super) fn handle_up(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        match self.phase {
            Phase::Dialing => self.begin(core, now),
            // A repeated `Up` has no effect.
            Phase::Probing { .. } | Phase::Initializing { .. } => State::Opening(self),
        }
    }

    pub(super) fn handle_frame(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        frame: &Bytes,
    ) -> State {
        if !self.is_up() {
            // The link is not up yet, so nothing can be answered.
            return State::Opening(self);
        }
        if frame.len() > core.config.max_frame_size {
            return self.handle_oversized_frame(core, now, frame.len(), frame);
        }
        match scan(frame) {
            Ok(Envelope::Response { id, result, .. }) => {
                self.handle_response(core, now, &id, result)
            }
            Ok(Envelope::Error { id, error }) => match decode::<ErrorObject>(error) {
                Ok(error) => self.handle_error(core, now, id.as_ref(), error),
                Err(decode_error) => {
                    let id = id.as_ref().and_then(RequestId::as_u64);
                    self.handle_malformed(core, now, id, decode_error.to_string(), frame.len())
                }
            },
            Ok(Envelope::Request { id, method, .. }) if method == method::PING => {
                core.send(self.link, None, response_raw(&id, b"{}"));
                State::Opening(self)
            }
            // Other messages have no meaning before the session is open.
            Ok(Envelope::Request { .. } | Envelope::Notification { .. }) => State::Opening(self),
            Err(error) => self.handle_malformed(
                core,
                now,
                error.response_to(),
                error.to_string(),
                frame.len(),
            ),
        }
    }

    /// Handles a frame over the size limit. If it was meant as the response, opening
    /// fails: there will be no other.
    pub(super) fn handle_oversized_frame(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        size: usize,
        prefix: &[u8],
    ) -> State {
        core.report_violation(Violation::OversizedFrame, size);
        self.saw_invalid_frame = true;
        let id = scan_partial(prefix).response_to();
        if id.is_none() || id != self.pending_id() {
            return State::Opening(self);
        }
        let limit = core.config.max_frame_size;
        self.fail(
            core,
            now,
            ConnectionErrorKind::OversizedFrame { size, limit },
        )
    }

    pub(super) fn dial_failed(
        &self,
        core: &mut Core,
        now: Instant,
        cause: ConnectionError,
    ) -> State {
        opening_failed(
            core,
            now,
            Disconnect {
                close_link: None,
                cause,
                redial: RedialPolicy::AfterBackoff,
            },
        )
    }

    /// Handles a lost link. If a process exited during the probe, the server is assumed
    /// to speak the handshake era, and the next attempt skips the probe. Over HTTP a
    /// lost link proves nothing about the server.
    pub(super) fn handle_down(
        &self,
        core: &mut Core,
        now: Instant,
        cause: ConnectionError,
    ) -> State {
        let redial = match self.phase {
            Phase::Probing { .. }
                if core.config.transport == TransportKind::Stream
                    && self.allows_handshake(core)
                    && core.assumed_era.is_none() =>
            {
                core.assumed_era = Some(Era::Handshake);
                RedialPolicy::Immediately
            }
            Phase::Dialing | Phase::Probing { .. } | Phase::Initializing { .. } => {
                core.assumed_era = None;
                RedialPolicy::AfterBackoff
            }
        };
        opening_failed(
            core,
            now,
            Disconnect {
                close_link: None,
                cause,
                redial,
            },
        )
    }

    /// Handles the opening timeout. A process that was running all the time and sent
    /// nothing invalid may only be slow to start, and a new process would be just as
    /// slow, so the next attempt gets longer. An HTTP server keeps starting between
    /// attempts.
    pub(super) fn timed_out(&self, core: &mut Core, now: Instant) -> State {
        let after = opening_timeout(core);
        let is_slow = self.is_up()
            && !self.saw_invalid_frame
            && core.config.transport == TransportKind::Stream;
        let slow = core.slow_openings.saturating_add(1);
        let state = self.fail(core, now, ConnectionErrorKind::OpeningTimeout(after));
        core.slow_openings = if is_slow { slow } else { 0 };
        state
    }

    /// Handles a probe without a response in time: tries the handshake on the same
    /// link.
    pub(super) fn probe_timed_out(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let Phase::Probing { id } = self.phase else {
            return State::Opening(self);
        };
        if !self.allows_handshake(core) {
            return State::Opening(self);
        }
        self.late_probe = Some(id);
        core.remember_cancelled(now, id);
        self.initialize(core, now)
    }

    pub(super) fn send_failed(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<u64>,
        send_error: SendError,
    ) -> State {
        if id.is_none() || id != self.pending_id() {
            return State::Opening(self);
        }
        match send_error {
            SendError::Busy(_) => self.fail(
                core,
                now,
                ConnectionErrorKind::Io("the transport's outbound queue is full".to_owned()),
            ),
            // The server answers, but not validly: no evidence of its era.
            SendError::NoResponse(cause)
                if matches!(self.phase, Phase::Probing { .. })
                    && matches!(cause.kind(), ConnectionErrorKind::ProtocolViolation(_)) =>
            {
                self.try_handshake(core, now)
            }
            SendError::Failed(cause) | SendError::NoResponse(cause) => {
                self.fail_with(core, now, cause)
            }
            SendError::Status(status) => self.handle_status(core, now, &status),
        }
    }
}

/// Sending.
impl Opening {
    fn begin(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let should_probe = self.allows_stateless(core)
            && core.http_variant == HttpVariant::Streamable
            && (core.assumed_era != Some(Era::Handshake) || !self.allows_handshake(core));
        if should_probe {
            self.probe(core, now)
        } else {
            self.initialize(core, now)
        }
    }

    fn probe(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let Some(revision) = stateless_revision(core) else {
            return self.fail_unsupported_version(core, now, Vec::new());
        };
        let id = core.ids.next_id();
        let mut message = OutgoingMessage::without_params(method::DISCOVER);
        let common = common_meta(core, revision.rules(), false);
        let meta = RequestMeta {
            common: &common,
            ..RequestMeta::default()
        };
        meta.write(&mut message, &mut core.scratch);
        core.send(self.link, Some(id), message.into_request_frame(id));
        core.timers
            .arm(Timer::Probe, now + core.config.timeouts.probe);
        self.probes += 1;
        self.phase = Phase::Probing { id };
        State::Opening(self)
    }

    fn initialize(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        core.timers.disarm(Timer::Probe);
        let Some(newest) = handshake_revisions(core).next() else {
            return self.fail_unsupported_version(core, now, Vec::new());
        };
        let mut capabilities = core.config.capabilities.clone();
        let mut identity = core.config.client_info.clone();
        capabilities.adapt(&newest.rules().features);
        identity.adapt(&newest.rules().features);
        let params = InitializeParams::new(newest.as_str(), capabilities, identity);
        match OutgoingMessage::new(method::INITIALIZE, &params) {
            Ok(message) => {
                let id = core.ids.next_id();
                core.send(self.link, Some(id), message.into_request_frame(id));
                self.phase = Phase::Initializing { id };
                State::Opening(self)
            }
            Err(error) => self.fail(
                core,
                now,
                ConnectionErrorKind::ProtocolViolation(error.to_string()),
            ),
        }
    }

    /// Returns the id of the pending request.
    fn pending_id(&self) -> Option<u64> {
        match self.phase {
            Phase::Dialing => None,
            Phase::Probing { id } | Phase::Initializing { id } => Some(id),
        }
    }

    fn allows_handshake(&self, core: &Core) -> bool {
        handshake_revisions(core).next().is_some()
    }

    fn allows_stateless(&self, core: &Core) -> bool {
        stateless_revision(core).is_some()
    }
}

/// Disconnects without a session. The two-endpoint transport was a guess: wrong, or
/// right for a server that is gone. The next attempt starts with the configured one.
fn opening_failed(core: &mut Core, now: Instant, mut details: Disconnect) -> State {
    // If the guess is refused as well, the first error is more helpful.
    if let (Some(first), ConnectionErrorKind::Status { .. }) =
        (core.streamable_error.take(), details.cause.kind())
    {
        details.cause = first;
    }
    if details.redial == RedialPolicy::AfterBackoff {
        core.failed_attempts = core.failed_attempts.saturating_add(1);
    }
    core.http_variant = HttpVariant::Streamable;
    core.slow_openings = 0;
    disconnect(core, now, details)
}

/// Returns the timeout for this attempt.
fn opening_timeout(core: &Core) -> Duration {
    let doublings = core.slow_openings.min(MAX_DOUBLINGS);
    core.config.timeouts.connect.saturating_mul(1 << doublings)
}
