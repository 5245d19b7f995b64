//! Which session a call belongs to.

use std::fmt;

use super::{Failure, Wire, calls::Call, core::Core, ready::Ready};
use crate::{jsonrpc::Draft, model::ToolMode, revision::Era};

/// Which of a connection's sessions: they are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber(pub(super) u64);

impl fmt::Display for SessionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What ties a call to the session in which it was first sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Nobody said. Whether the call may be sent again is up to its caller.
    Undeclared,
    /// The call is stateless: any session serves it.
    Any,
    /// The call is stateful: this session, or none.
    Session(SessionNumber),
}

impl Binding {
    pub(super) fn is_session(self) -> bool {
        self.session().is_some()
    }

    pub(super) fn session(self) -> Option<SessionNumber> {
        match self {
            Self::Session(number) => Some(number),
            Self::Undeclared | Self::Any => None,
        }
    }
}

/// What ties calls to this session.
impl Ready {
    pub(super) fn session(&self, core: &Core) -> Option<SessionNumber> {
        let has_sessions = self.has_sessions(core.config.wire);
        has_sessions.then_some(SessionNumber(core.sessions))
    }

    /// The mode of a call, where the caller or the tool's description has it.
    pub(super) fn declared_mode(&self, call: &Call, draft: &Draft) -> Option<ToolMode> {
        if call.options.session.is_some() {
            return Some(ToolMode::Stateful);
        }
        let tool = call.tool.as_ref();
        let listed = || self.modes.declared(|| tool?.get(draft.members()).into());
        call.options.mode.or_else(listed)
    }

    /// What ties a call to a session, from its first sending on; or why it
    /// cannot be sent in this one.
    pub(super) fn bind(&self, core: &Core, call: &Call, draft: &Draft) -> Result<Binding, Failure> {
        let current = SessionNumber(core.sessions);
        let wanted = call.binding.session().or(call.options.session);
        if wanted.is_some_and(|wanted| wanted != current) {
            return Err(Failure::SessionLost);
        }
        match self.declared_mode(call, draft) {
            None => Ok(Binding::Undeclared),
            Some(ToolMode::Stateless) => Ok(Binding::Any),
            Some(ToolMode::Stateful) if self.has_sessions(core.config.wire) => {
                Ok(Binding::Session(current))
            }
            // What the tool says of itself has no meaning here; what the
            // caller demands cannot be had.
            Some(ToolMode::Stateful) if call.options.demands_session() => Err(Failure::NoSession),
            Some(ToolMode::Stateful) => Ok(Binding::Undeclared),
        }
    }

    /// Whether the server can keep anything for us between two calls: it has
    /// sessions, or is a process of our own.
    fn has_sessions(&self, wire: Wire) -> bool {
        self.rules.era == Era::Handshake || wire != Wire::Http
    }
}
