//! Binding of calls to sessions.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{Failure, TransportKind, calls::Call, core::Core, ready::Ready};
use crate::{
    jsonrpc::{Member, OutgoingMessage},
    model::{ToolMode, method},
};

/// Identifies a session of a connection, counted from 1. A number from one connection
/// is not valid on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNumber {
    connection: ConnectionNumber,
    number: u64,
}

/// Identifies a connection within this process. It does not affect what a connection
/// does and is never sent.
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

/// How a call is bound to the session in which it was first sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// No mode is declared. The caller decides whether the call may be sent again.
    Undeclared,
    /// The call is stateless: any session can serve it.
    AnySession,
    /// The call is stateful: only this session can serve it.
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
    /// Returns the number of the current or last session.
    fn current_session(&self) -> SessionNumber {
        SessionNumber {
            connection: self.connection_number,
            number: self.session_count,
        }
    }
}

/// Binding of calls to this session.
impl Ready {
    pub(super) fn session(&self, core: &Core) -> Option<SessionNumber> {
        let has_sessions = self.has_sessions(core.config.transport);
        has_sessions.then(|| core.current_session())
    }

    /// Returns the mode of a call, if the caller or the tool's description declares
    /// one.
    pub(super) fn declared_mode(&self, call: &Call, message: &OutgoingMessage) -> Option<ToolMode> {
        if call.options.session.is_some() {
            return Some(ToolMode::Stateful);
        }
        let tool = || match message.member("name") {
            Member::String(name) if call.method == method::TOOLS_CALL => Some(name),
            _ => None,
        };
        let declared = || self.modes.declared_mode(tool);
        call.options.mode.or_else(declared)
    }

    /// Returns the binding of a call from when it is first sent, or why it cannot be
    /// sent in this session.
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
            // A mode declared by the tool has no meaning without sessions; one required
            // by the caller cannot be satisfied.
            Some(ToolMode::Stateful) if call.options.requires_session() => Err(Failure::NoSession),
            Some(ToolMode::Stateful) => Ok(Binding::Undeclared),
        }
    }

    /// Returns whether the server can keep state between two calls: it has sessions, or
    /// it is our child process.
    fn has_sessions(&self, transport: TransportKind) -> bool {
        self.session.is_kept_by_server() || transport != TransportKind::Http
    }
}
