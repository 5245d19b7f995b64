//! Which session a call belongs to.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{Failure, TransportKind, calls::Call, core::Core, ready::Ready};
use crate::{jsonrpc::OutgoingMessage, model::ToolMode, revision::Era};

/// Which of a connection's sessions: they are counted from 1. That of one
/// connection is none of another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber {
    connection: ConnectionNumber,
    number: u64,
}

/// Which of this process's connections. Nothing that a connection does depends
/// on it, and it does not travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConnectionNumber(u64);

impl ConnectionNumber {
    pub(super) fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl SessionNumber {
    pub(super) fn belongs_to(self, connection: ConnectionNumber) -> bool {
        self.connection == connection
    }
}

impl fmt::Display for SessionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

/// What ties a call to the session in which it was first sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Nobody said. Whether the call may be sent again is up to its caller.
    Undeclared,
    /// The call is stateless: any session serves it.
    AnySession,
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
            Self::Undeclared | Self::AnySession => None,
        }
    }
}

impl Core {
    /// The number of the session that is open, or was last.
    fn current_session(&self) -> SessionNumber {
        SessionNumber {
            connection: self.connection_number,
            number: self.session_count,
        }
    }
}

/// What ties calls to this session.
impl Ready {
    pub(super) fn session(&self, core: &Core) -> Option<SessionNumber> {
        let has_sessions = self.has_sessions(core.config.transport);
        has_sessions.then(|| core.current_session())
    }

    /// The mode of a call, where the caller or the tool's description has it.
    pub(super) fn declared_mode(&self, call: &Call, message: &OutgoingMessage) -> Option<ToolMode> {
        if call.options.session.is_some() {
            return Some(ToolMode::Stateful);
        }
        let tool = call.tool.as_ref();
        let declared = || {
            self.modes
                .declared_mode(|| tool?.get(message.members()).into())
        };
        call.options.mode.or_else(declared)
    }

    /// What ties a call to a session, from its first sending on; or why it
    /// cannot be sent in this one.
    pub(super) fn bind(
        &self,
        core: &Core,
        call: &Call,
        message: &OutgoingMessage,
    ) -> Result<Binding, Failure> {
        let current = core.current_session();
        let required = call.binding.session().or(call.options.session);
        if required.is_some_and(|required| required != current) {
            return Err(Failure::SessionLost);
        }
        match self.declared_mode(call, message) {
            None => Ok(Binding::Undeclared),
            Some(ToolMode::Stateless) => Ok(Binding::AnySession),
            Some(ToolMode::Stateful) if self.has_sessions(core.config.transport) => {
                Ok(Binding::Session(current))
            }
            // What the tool says of itself has no meaning here; what the
            // caller demands cannot be had.
            Some(ToolMode::Stateful) if call.options.requires_session() => Err(Failure::NoSession),
            Some(ToolMode::Stateful) => Ok(Binding::Undeclared),
        }
    }

    /// Whether the server can keep anything for us between two calls: it has
    /// sessions, or is a process of our own.
    fn has_sessions(&self, transport: TransportKind) -> bool {
        self.rules.era == Era::Handshake || transport != TransportKind::Http
    }
}
