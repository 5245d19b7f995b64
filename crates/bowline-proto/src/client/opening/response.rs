//! Responses and errors that arrive while a session is being opened.

use super::{Opening, Phase, opening_failed};
use crate::{
    Instant,
    client::{
        ConnectionError, ConnectionErrorKind, HttpStatusError, HttpVariant, ServerInfo, Violation,
        core::Core,
        offered_revisions::common_stateless_revision,
        ready::Ready,
        redial::{Disconnect, RedialPolicy, disconnect},
        state::State,
    },
    http::suggests_legacy_sse,
    jsonrpc::{ErrorObject, RequestId, code, decode},
    model::{DiscoverResult, InitializeResult, UnsupportedVersionData},
    revision::accept_handshake_version,
};

impl Opening {
    pub(super) fn handle_response(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: &RequestId,
        result: &[u8],
    ) -> State {
        let id = id.as_u64();
        if id.is_some() && id == self.late_probe {
            self.late_probe = None;
            self.late_discovery = decode(result).ok().map(Box::new);
            return State::Opening(self);
        }
        if id.is_none() || id != self.pending_id() {
            core.report_unmatched_response(now, id);
            return State::Opening(self);
        }
        match self.phase {
            Phase::Probing { .. } => match decode::<DiscoverResult>(result) {
                Ok(discovered) => self.discovered(core, now, discovered),
                // The server answers anything with something: no evidence of its era.
                Err(_) => self.try_handshake(core, now),
            },
            Phase::Initializing { .. } => match decode::<InitializeResult>(result) {
                Ok(result) => self.initialized(core, now, result),
                Err(error) => self.fail(
                    core,
                    now,
                    ConnectionErrorKind::ProtocolViolation(error.to_string()),
                ),
            },
            Phase::Dialing => State::Opening(self),
        }
    }

    pub(super) fn discovered(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        result: DiscoverResult,
    ) -> State {
        let chosen = common_stateless_revision(core, &result.supported_versions);
        match chosen {
            Some(revision) => {
                let server = ServerInfo::from_discover_result(revision, result);
                Ready::enter(core, now, self.link, server)
            }
            None => self.try_offered_handshake(core, now, result.supported_versions),
        }
    }

    pub(super) fn initialized(
        &self,
        core: &mut Core,
        now: Instant,
        result: InitializeResult,
    ) -> State {
        match accept_handshake_version(&result.protocol_version, &core.config.revisions) {
            Some(revision) => {
                let server = ServerInfo::from_initialize_result(revision, result);
                Ready::enter(core, now, self.link, server)
            }
            None => self.fail_unsupported_version(core, now, vec![result.protocol_version]),
        }
    }

    pub(super) fn handle_error(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<&RequestId>,
        error: ErrorObject,
    ) -> State {
        // An error without an id refers to the oldest pending request.
        let is_response_to = |request: u64| id.is_none_or(|id| id.as_u64() == Some(request));
        if self
            .late_probe
            .take_if(|probe| is_response_to(*probe))
            .is_some()
        {
            return State::Opening(self);
        }
        let matches_pending = self.pending_id().is_some_and(is_response_to);
        if !matches_pending {
            return State::Opening(self);
        }
        match self.phase {
            Phase::Initializing { .. } => self.handshake_error(core, now, error),
            Phase::Probing { .. } | Phase::Dialing => self.probe_error(core, now, &error),
        }
    }

    pub(super) fn probe_error(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        error: &ErrorObject,
    ) -> State {
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let offered = offered_versions(error);
                // The server lists the version that the probe used: try once more, so a
                // single server mistake does not cost us the newer era.
                if self.probes < 2 && common_stateless_revision(core, &offered).is_some() {
                    return self.probe(core, now);
                }
                self.try_offered_handshake(core, now, offered)
            }
            // Only the stateless era has these codes, and asking again cannot help.
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => {
                self.fail(core, now, ConnectionErrorKind::Refused(error.clone()))
            }
            _ => self.try_handshake(core, now),
        }
    }

    pub(super) fn handshake_error(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        error: ErrorObject,
    ) -> State {
        if let Some(late) = self.late_discovery.take() {
            return self.discovered(core, now, *late);
        }
        let offers_stateless = common_stateless_revision(core, &offered_versions(&error)).is_some();
        if offers_stateless && self.probes < 2 && core.http_variant == HttpVariant::Streamable {
            return self.probe(core, now);
        }
        self.fail(core, now, ConnectionErrorKind::Refused(error))
    }

    /// Handles an HTTP error status: evidence of the era, or a failure.
    pub(super) fn handle_status(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        status_error: &HttpStatusError,
    ) -> State {
        let cause = status_error.to_connection_error();
        if !status_error.class().rejects_request() {
            return self.fail_with(core, now, cause);
        }
        match (&self.phase, status_error.response()) {
            (Phase::Initializing { .. }, Some(error)) => self.handshake_error(core, now, error),
            (Phase::Initializing { .. }, None) if suggests_legacy_sse(status_error.status) => {
                self.try_legacy_sse(core, now, cause)
            }
            (Phase::Initializing { .. }, None) => self.fail_with(core, now, cause),
            (Phase::Probing { .. } | Phase::Dialing, Some(error)) => {
                self.probe_error(core, now, &error)
            }
            (Phase::Probing { .. } | Phase::Dialing, None) => self.try_handshake(core, now),
        }
    }

    /// Tries the two-endpoint transport of the first revision, if allowed.
    pub(super) fn try_legacy_sse(
        &self,
        core: &mut Core,
        now: Instant,
        cause: ConnectionError,
    ) -> State {
        if !core.config.legacy_sse_fallback || core.http_variant == HttpVariant::LegacySse {
            return self.fail_with(core, now, cause);
        }
        core.http_variant = HttpVariant::LegacySse;
        core.streamable_error = Some(cause.clone());
        let close_link = Some(self.link);
        disconnect(
            core,
            now,
            Disconnect {
                close_link,
                cause,
                redial: RedialPolicy::Immediately,
            },
        )
    }

    /// Tries the handshake: the server did not prove to speak the stateless era.
    pub(super) fn try_handshake(self: Box<Self>, core: &mut Core, now: Instant) -> State {
        if self.allows_handshake(core) {
            self.initialize(core, now)
        } else {
            self.fail_unsupported_version(core, now, Vec::new())
        }
    }

    /// Tries the handshake with a stateless-era server that does not support our
    /// stateless revision, if it offers a handshake revision that we allow.
    pub(super) fn try_offered_handshake(
        self: Box<Self>,
        core: &mut Core,
        now: Instant,
        offered: Vec<String>,
    ) -> State {
        let revisions = &core.config.revisions;
        let has_common = offered
            .iter()
            .any(|version| accept_handshake_version(version, revisions).is_some());
        if has_common {
            self.initialize(core, now)
        } else {
            self.fail_unsupported_version(core, now, offered)
        }
    }

    pub(super) fn fail_unsupported_version(
        &self,
        core: &mut Core,
        now: Instant,
        offered: Vec<String>,
    ) -> State {
        self.fail(
            core,
            now,
            ConnectionErrorKind::UnsupportedVersion { offered },
        )
    }

    /// Handles an invalid message, perhaps meant as the response to `id`.
    pub(super) fn handle_malformed(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        id: Option<u64>,
        reason: String,
        size: usize,
    ) -> State {
        core.report_violation(Violation::MalformedMessage, size);
        self.saw_invalid_frame = true;
        match self.phase {
            _ if id.is_none() || id != self.pending_id() => State::Opening(self),
            // The server answers, but not validly: no evidence of its era.
            Phase::Probing { .. } => self.try_handshake(core, now),
            Phase::Initializing { .. } | Phase::Dialing => {
                self.fail(core, now, ConnectionErrorKind::ProtocolViolation(reason))
            }
        }
    }

    /// Closes this link with an error.
    pub(super) fn fail(&self, core: &mut Core, now: Instant, kind: ConnectionErrorKind) -> State {
        self.fail_with(core, now, kind.into())
    }

    /// Closes this link with an error and discards the assumed era.
    pub(super) fn fail_with(&self, core: &mut Core, now: Instant, cause: ConnectionError) -> State {
        core.assumed_era = None;
        let close_link = Some(self.link);
        let redial = RedialPolicy::AfterBackoff;
        opening_failed(
            core,
            now,
            Disconnect {
                close_link,
                cause,
                redial,
            },
        )
    }
}

fn offered_versions(error: &ErrorObject) -> Vec<String> {
    let data = error
        .data
        .as_ref()
        .and_then(|data| data.decode::<UnsupportedVersionData>().ok());
    data.map(|data| data.supported).unwrap_or_default()
}
