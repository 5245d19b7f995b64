//! From a dial to a session: probe the era, negotiate the revision.
//!
//! The question "do you speak the stateless era?" is put first, with
//! `server/discover`. Everything that is not a clear yes leads to the
//! handshake; what is evidence and what is failure depends on the transport.

use std::time::Duration;

use bytes::Bytes;

use super::{
    Cause, CauseKind, HttpRefusal, Link, Output, Refusal, Server, Violation, Wire, Wiring,
    core::Core,
    dress::Dress,
    ready::Ready,
    state::{Fallen, Redial, State, fall},
    stateless::standing_meta,
    timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{Draft, Envelope, ErrorObject, RequestId, code, decode, response_raw, salvage, scan},
    model::{
        Adapt, DiscoverResult, InitializeParams, InitializeResult, UnsupportedVersionData, method,
    },
    revision::{Era, Revision, accept_handshake, choose_stateless},
};

/// How often the time to open is doubled for a server that is there and needs
/// longer.
const MOST_DOUBLINGS: u32 = 3;

/// A session that is on its way.
#[derive(Debug)]
pub(super) struct Opening {
    link: Link,
    phase: Phase,
    /// How often the era was asked for on this link.
    probes: u32,
    /// The id of a probe that was not answered in time.
    late_probe: Option<u64>,
    /// Its answer, which came late but came. It counts only if the handshake
    /// is refused.
    late_answer: Option<Box<DiscoverResult>>,
    /// The server has said something that cannot be read.
    is_garbled: bool,
}

#[derive(Debug)]
enum Phase {
    /// The link is not up yet.
    Dialing,
    /// `server/discover` was asked.
    Probing { id: u64 },
    /// `initialize` was asked.
    Initializing { id: u64 },
}

impl Opening {
    /// Asks for a link. The time to open counts from here, so that a link that
    /// never comes up cannot hang the connection.
    pub(super) fn dial(core: &mut Core, now: Instant) -> State {
        let link = core.next_link();
        core.timers.arm(Timer::Opening, now + opening_timeout(core));
        let (attempt, wiring) = (core.failures, core.wiring);
        core.output(Output::Dial {
            link,
            attempt,
            wiring,
        });
        State::Opening(Box::new(Self {
            link,
            phase: Phase::Dialing,
            probes: 0,
            late_probe: None,
            late_answer: None,
            is_garbled: false,
        }))
    }

    pub(super) fn link(&self) -> Link {
        self.link
    }

    /// Whether frames may be read: the link is up.
    pub(super) fn is_up(&self) -> bool {
        !matches!(self.phase, Phase::Dialing)
    }

    pub(super) fn up(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        match self.phase {
            Phase::Dialing => self.begin(core, now),
            // A second `Up` says nothing new.
            Phase::Probing { .. } | Phase::Initializing { .. } => State::Opening(self),
        }
    }

    pub(super) fn frame(self: Box<Self>, core: &mut Core, now: Instant, frame: &Bytes) -> State {
        if !self.is_up() {
            // Not a link yet: there is nothing to answer over.
            return State::Opening(self);
        }
        if frame.len() > core.config.max_frame {
            return self.oversize(core, now, frame.len(), frame);
        }
        match scan(frame) {
            Ok(Envelope::Response { id, result, .. }) => self.answer(core, now, &id, result),
            Ok(Envelope::Error { id, error }) => match decode::<ErrorObject>(error) {
                Ok(error) => self.error(core, now, id.as_ref(), error),
                Err(fault) => {
                    let id = id.as_ref().and_then(RequestId::as_u64);
                    self.unreadable(core, now, id, fault.to_string(), frame.len())
                }
            },
            Ok(Envelope::Request { id, method, .. }) if method == method::PING => {
                core.send(self.link, None, response_raw(&id, b"{}"));
                State::Opening(self)
            }
            // Nothing else means anything before the session is open.
            Ok(Envelope::Request { .. } | Envelope::Notification { .. }) => State::Opening(self),
            Err(error) => {
                self.unreadable(core, now, error.answered(), error.to_string(), frame.len())
            }
        }
    }

    /// A frame over the limit. If it was meant as the answer, there is no other.
    pub(super) fn oversize(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        size: usize,
        prefix: &[u8],
    ) -> State {
        core.violation(Violation::Oversize, size);
        self.is_garbled = true;
        let id = salvage(prefix).answered();
        if id.is_none() || id != self.asked() {
            return State::Opening(self);
        }
        let limit = core.config.max_frame;
        self.fail(core, now, CauseKind::Oversize { size, limit })
    }

    pub(super) fn dial_failed(&self, core: &mut Core, now: Instant, cause: Cause) -> State {
        give_up(
            core,
            now,
            Fallen {
                hang_up: None,
                cause,
                redial: Redial::AfterBackoff,
            },
        )
    }

    /// The link died. If it is a process that did not survive the probe, the
    /// server is of the handshake era, and the next attempt spares it the
    /// question. Over HTTP a lost link says nothing about the server.
    pub(super) fn down(&self, core: &mut Core, now: Instant, cause: Cause) -> State {
        let redial = match self.phase {
            Phase::Probing { .. }
                if core.config.wire == Wire::Stream
                    && self.may_handshake(core)
                    && core.belief.is_none() =>
            {
                core.belief = Some(Era::Handshake);
                Redial::AtOnce
            }
            Phase::Dialing | Phase::Probing { .. } | Phase::Initializing { .. } => {
                core.belief = None;
                Redial::AfterBackoff
            }
        };
        give_up(
            core,
            now,
            Fallen {
                hang_up: None,
                cause,
                redial,
            },
        )
    }

    /// There was no session in time. A process that was there all the while and
    /// said nothing wrong may only be slow to start, and the next one would be
    /// no quicker: it is given longer. Over HTTP the server goes on starting
    /// while nobody asks.
    pub(super) fn timed_out(&self, core: &mut Core, now: Instant) -> State {
        let after = opening_timeout(core);
        let is_slow = self.is_up() && !self.is_garbled && core.config.wire == Wire::Stream;
        let slow = core.slow_openings.saturating_add(1);
        let state = self.fail(core, now, CauseKind::OpeningTimeout(after));
        core.slow_openings = if is_slow { slow } else { 0 };
        state
    }

    /// No answer to the probe in time: try the handshake behind it.
    pub(super) fn probe_timed_out(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let Phase::Probing { id } = self.phase else {
            return State::Opening(self);
        };
        if !self.may_handshake(core) {
            return State::Opening(self);
        }
        self.late_probe = Some(id);
        core.bury(now, id);
        self.initialize(core, now)
    }

    pub(super) fn refused(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<u64>,
        refusal: Refusal,
    ) -> State {
        if id.is_none() || id != self.asked() {
            return State::Opening(self);
        }
        match refusal {
            Refusal::Busy(_) => {
                self.fail(core, now, CauseKind::Io("the transport is busy".to_owned()))
            }
            // It answers, if badly: no evidence of the era.
            Refusal::Unanswered(cause)
                if matches!(self.phase, Phase::Probing { .. })
                    && matches!(cause.kind(), CauseKind::Violation(_)) =>
            {
                self.no_evidence(core, now)
            }
            Refusal::Failed(cause) | Refusal::Unanswered(cause) => self.fail_by(core, now, cause),
            Refusal::Status(status) => self.status(core, now, &status),
        }
    }
}

/// Asking.
impl Opening {
    fn begin(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let probe = self.may_be_stateless(core)
            && core.wiring == Wiring::Usual
            && (core.belief != Some(Era::Handshake) || !self.may_handshake(core));
        if probe {
            self.probe(core, now)
        } else {
            self.initialize(core, now)
        }
    }

    fn probe(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        let Some(revision) = stateless_revision(core) else {
            return self.unsupported(core, now, Vec::new());
        };
        let id = core.ids.fresh();
        let mut draft = Draft::empty(method::DISCOVER);
        let standing = standing_meta(core, revision.rules());
        let dress = Dress {
            standing: &standing,
            ..Dress::default()
        };
        dress.put_on(&mut draft, &mut core.scratch);
        core.send(self.link, Some(id), draft.into_frame(id));
        core.timers
            .arm(Timer::Probe, now + core.config.timeouts.probe);
        self.probes += 1;
        self.phase = Phase::Probing { id };
        State::Opening(self)
    }

    fn initialize(mut self: Box<Self>, core: &mut Core, now: Instant) -> State {
        core.timers.disarm(Timer::Probe);
        let Some(newest) = handshake_revisions(core).next() else {
            return self.unsupported(core, now, Vec::new());
        };
        let mut capabilities = core.config.capabilities.clone();
        let mut identity = core.config.identity.clone();
        capabilities.adapt(&newest.rules().dialect);
        identity.adapt(&newest.rules().dialect);
        let params = InitializeParams::new(newest.as_str(), capabilities, identity);
        match Draft::new(method::INITIALIZE, &params) {
            Ok(draft) => {
                let id = core.ids.fresh();
                core.send(self.link, Some(id), draft.into_frame(id));
                self.phase = Phase::Initializing { id };
                State::Opening(self)
            }
            Err(error) => self.fail(core, now, CauseKind::Violation(error.to_string())),
        }
    }

    /// The id of the question that is open.
    fn asked(&self) -> Option<u64> {
        match self.phase {
            Phase::Dialing => None,
            Phase::Probing { id } | Phase::Initializing { id } => Some(id),
        }
    }

    fn may_handshake(&self, core: &Core) -> bool {
        handshake_revisions(core).next().is_some()
    }

    fn may_be_stateless(&self, core: &Core) -> bool {
        stateless_revision(core).is_some()
    }
}

/// Hearing.
impl Opening {
    fn answer(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        result: &[u8],
    ) -> State {
        let id = id.as_u64();
        if id.is_some() && id == self.late_probe {
            self.late_probe = None;
            self.late_answer = decode(result).ok().map(Box::new);
            return State::Opening(self);
        }
        if id.is_none() || id != self.asked() {
            core.unexpected_answer(now, id);
            return State::Opening(self);
        }
        match self.phase {
            Phase::Probing { .. } => match decode::<DiscoverResult>(result) {
                Ok(discovered) => self.discovered(core, now, discovered),
                // It answers anything with something: no evidence of the era.
                Err(_) => self.no_evidence(core, now),
            },
            Phase::Initializing { .. } => match decode::<InitializeResult>(result) {
                Ok(result) => self.initialized(core, now, result),
                Err(error) => self.fail(core, now, CauseKind::Violation(error.to_string())),
            },
            Phase::Dialing => State::Opening(self),
        }
    }

    fn discovered(self: Box<Self>, core: &mut Core, now: Instant, result: DiscoverResult) -> State {
        let chosen = stateless_among(core, &result.supported_versions);
        match chosen {
            Some(revision) => {
                let server = Server::discovered(revision, result);
                Ready::enter(core, now, self.link, server)
            }
            None => self.fall_back(core, now, result.supported_versions),
        }
    }

    fn initialized(&self, core: &mut Core, now: Instant, result: InitializeResult) -> State {
        match accept_handshake(&result.protocol_version, &core.config.revisions) {
            Some(revision) => {
                let server = Server::initialized(revision, result);
                Ready::enter(core, now, self.link, server)
            }
            None => self.unsupported(core, now, vec![result.protocol_version]),
        }
    }

    fn error(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<&RequestId>,
        error: ErrorObject,
    ) -> State {
        // An error without an id means the question that has been open longest.
        let means = |asked: u64| id.is_none_or(|id| id.as_u64() == Some(asked));
        if self.late_probe.take_if(|probe| means(*probe)).is_some() {
            return State::Opening(self);
        }
        let ours = self.asked().is_some_and(means);
        if !ours {
            return State::Opening(self);
        }
        match self.phase {
            Phase::Initializing { .. } => self.handshake_refused(core, now, error),
            Phase::Probing { .. } | Phase::Dialing => self.probe_refused(core, now, &error),
        }
    }

    fn probe_refused(self: Box<Self>, core: &mut Core, now: Instant, error: &ErrorObject) -> State {
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let offered = offered_versions(error);
                // It lists what it was asked in: once more, lest one slip of
                // the server's costs us the newer era.
                if self.probes < 2 && stateless_among(core, &offered).is_some() {
                    return self.probe(core, now);
                }
                self.fall_back(core, now, offered)
            }
            // Only the stateless era has these codes, and neither can be mended
            // by asking again.
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => {
                self.fail(core, now, CauseKind::Refused(error.clone()))
            }
            _ => self.no_evidence(core, now),
        }
    }

    fn handshake_refused(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        error: ErrorObject,
    ) -> State {
        if let Some(late) = self.late_answer.take() {
            return self.discovered(core, now, *late);
        }
        let names_stateless = stateless_among(core, &offered_versions(&error)).is_some();
        if names_stateless && self.probes < 2 && core.wiring == Wiring::Usual {
            return self.probe(core, now);
        }
        self.fail(core, now, CauseKind::Refused(error))
    }

    /// An HTTP status that is not success: evidence of the era, or failure.
    fn status(self: Box<Self>, core: &mut Core, now: Instant, refusal: &HttpRefusal) -> State {
        let cause = refusal.cause();
        let is_evidence = matches!(refusal.status, 400..=499)
            && !matches!(refusal.status, 401 | 403 | 407 | 408 | 429);
        if !is_evidence {
            return self.fail_by(core, now, cause);
        }
        match (&self.phase, error_in(&refusal.body)) {
            (Phase::Initializing { .. }, Some(error)) => self.handshake_refused(core, now, error),
            (Phase::Initializing { .. }, None) if matches!(refusal.status, 400 | 404 | 405) => {
                self.two_endpoint(core, now, cause)
            }
            (Phase::Initializing { .. }, None) => self.fail_by(core, now, cause),
            (Phase::Probing { .. } | Phase::Dialing, Some(error)) => {
                self.probe_refused(core, now, &error)
            }
            (Phase::Probing { .. } | Phase::Dialing, None) => self.no_evidence(core, now),
        }
    }

    /// Perhaps a server of the first revision, which has two endpoints.
    fn two_endpoint(&self, core: &mut Core, now: Instant, cause: Cause) -> State {
        if !core.config.two_endpoint_fallback || core.wiring == Wiring::TwoEndpoint {
            return self.fail_by(core, now, cause);
        }
        core.wiring = Wiring::TwoEndpoint;
        core.refused = Some(cause.clone());
        let hang_up = Some(self.link);
        fall(
            core,
            now,
            Fallen {
                hang_up,
                cause,
                redial: Redial::AtOnce,
            },
        )
    }

    /// The server did not prove to be of the stateless era.
    fn no_evidence(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        if self.may_handshake(core) {
            self.initialize(core, now)
        } else {
            self.unsupported(core, now, Vec::new())
        }
    }

    /// The server is of the stateless era but does not speak our revision of
    /// it. It may speak an older one, by handshake.
    fn fall_back(self: Box<Self>, core: &mut Core, now: Instant, offered: Vec<String>) -> State {
        let revisions = &core.config.revisions;
        let common = offered
            .iter()
            .any(|version| accept_handshake(version, revisions).is_some());
        if common {
            self.initialize(core, now)
        } else {
            self.unsupported(core, now, offered)
        }
    }

    fn unsupported(&self, core: &mut Core, now: Instant, offered: Vec<String>) -> State {
        self.fail(core, now, CauseKind::UnsupportedVersion { offered })
    }

    /// Something that cannot be read, perhaps meant as the answer to `id`.
    fn unreadable(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<u64>,
        why: String,
        size: usize,
    ) -> State {
        core.violation(Violation::Garbage, size);
        self.is_garbled = true;
        match self.phase {
            _ if id.is_none() || id != self.asked() => State::Opening(self),
            // It answers, if badly: no evidence of the era.
            Phase::Probing { .. } => self.no_evidence(core, now),
            Phase::Initializing { .. } | Phase::Dialing => {
                self.fail(core, now, CauseKind::Violation(why))
            }
        }
    }

    /// Gives this link up.
    fn fail(&self, core: &mut Core, now: Instant, kind: CauseKind) -> State {
        self.fail_by(core, now, kind.into())
    }

    /// Gives this link up. What was believed of the server was no help.
    fn fail_by(&self, core: &mut Core, now: Instant, cause: Cause) -> State {
        core.belief = None;
        let hang_up = Some(self.link);
        let redial = Redial::AfterBackoff;
        give_up(
            core,
            now,
            Fallen {
                hang_up,
                cause,
                redial,
            },
        )
    }
}

/// Falls without a session. The transport with two endpoints is a guess that
/// was wrong, or was right of a server that is gone: the next attempt asks anew.
fn give_up(core: &mut Core, now: Instant, mut fallen: Fallen) -> State {
    // Where the guess is refused, too, what was said first says more.
    if let (Some(first), CauseKind::Status { .. }) = (core.refused.take(), fallen.cause.kind()) {
        fallen.cause = first;
    }
    if fallen.redial == Redial::AfterBackoff {
        core.failures = core.failures.saturating_add(1);
    }
    core.wiring = Wiring::Usual;
    core.slow_openings = 0;
    fall(core, now, fallen)
}

/// How long this attempt may take.
fn opening_timeout(core: &Core) -> Duration {
    let doublings = core.slow_openings.min(MOST_DOUBLINGS);
    core.config.timeouts.opening.saturating_mul(1 << doublings)
}

/// The JSON-RPC error in an HTTP body, if there is one.
pub(super) fn error_in(body: &[u8]) -> Option<ErrorObject> {
    match scan(body) {
        Ok(Envelope::Error { error, .. }) => decode(error).ok(),
        _ => None,
    }
}

fn offered_versions(error: &ErrorObject) -> Vec<String> {
    let data = error
        .data
        .as_ref()
        .and_then(|data| data.decode::<UnsupportedVersionData>().ok());
    data.map(|data| data.supported).unwrap_or_default()
}

/// The handshake revisions we may speak, newest first.
fn handshake_revisions(core: &Core) -> impl Iterator<Item = Revision> {
    let mut allowed: Vec<_> = core.config.revisions.clone();
    allowed.retain(|revision| revision.rules().era == Era::Handshake);
    allowed.sort_unstable();
    allowed.into_iter().rev()
}

/// The newest stateless revision that both sides may speak.
fn stateless_among(core: &Core, versions: &[String]) -> Option<Revision> {
    choose_stateless(versions).filter(|revision| core.config.revisions.contains(revision))
}

/// The newest stateless revision we may speak.
fn stateless_revision(core: &Core) -> Option<Revision> {
    let allowed = core.config.revisions.iter().copied();
    allowed
        .filter(|revision| revision.rules().era == Era::Stateless)
        .max()
}
