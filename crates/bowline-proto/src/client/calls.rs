//! The table of open calls.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use bytes::Bytes;

use super::{
    CallId, CallMap, CallOptions, Timeouts, binding::Binding, desired_state::DesiredChange,
    tool_list::Relisting,
};
use crate::{
    Instant,
    jsonrpc::OutgoingMessage,
    model::{
        Meta,
        method::{self, MethodInfo},
    },
};

/// An open call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Cow<'static, str>,
    /// Information about the method, if the protocol defines it.
    pub(super) info: Option<&'static MethodInfo>,
    pub(super) phase: Phase,
    pub(super) purpose: Purpose,
    pub(super) options: CallOptions,
    /// The caller's `_meta`, added every time the request is sent.
    pub(super) meta: Option<Box<Meta>>,
    pub(super) binding: Binding,
    /// The parameters as sent, kept only if they may be needed again.
    pub(super) members: Option<Bytes>,
    /// The timeout for the response, counted from each send.
    pub(super) timeout: Duration,
    /// When the call times out. The timer is always armed.
    pub(super) deadline: Instant,
    /// The limit beyond which progress cannot extend the deadline.
    pub(super) max_deadline: Option<Instant>,
    pub(super) started: Instant,
    pub(super) correlation: u64,
    /// The number of input rounds so far.
    pub(super) rounds: u32,
    /// Whether the call waits for the host's answer to a question that may belong to
    /// it, and how often it has.
    pub(super) awaits_host: bool,
    pub(super) deadline_pauses: u32,
    /// How many exchanges of the call broke and led to another.
    pub(super) broken_exchanges: u32,
    /// Whether the call was already moved to a new session because the server did not
    /// know the old one.
    pub(super) moved_session: bool,
    /// Whether the tool list was already requested for this call.
    pub(super) relisted: bool,
    /// Whether this is a liveness check.
    pub(super) is_ping: bool,
    /// Whether it was sent with the wish to become a task.
    pub(super) asks_for_task: bool,
}

/// The phase of a call.
#[derive(Debug)]
pub(super) enum Phase {
    /// Not sent: the connection is not open. `None` only briefly, while the message is
    /// being sent.
    Queued(Option<OutgoingMessage>),
    /// The link was busy; will be sent again.
    Retrying {
        wire_id: u64,
        frame: Bytes,
        sends: u32,
        at: Instant,
    },
    /// Sent as `wire_id`, `sends` times.
    InFlight { wire_id: u64, sends: u32 },
    /// The host is being asked; its answer will be sent as a new request.
    AwaitingInput(PendingInput),
    /// The server asked to wait; the request will be sent again.
    Paused {
        request_state: Option<Box<str>>,
        at: Instant,
    },
    /// The exchange broke, and the caller allowed repetition; will be sent again.
    Repeating {
        message: Option<OutgoingMessage>,
        at: Instant,
    },
    /// A subscription that waits for the stream's acknowledgement.
    Subscribing,
}

/// Data to remember while the host is being asked.
#[derive(Debug)]
pub(super) struct PendingInput {
    /// To be echoed byte for byte.
    pub(super) request_state: Option<Box<str>>,
    /// Keys of the roots questions, which the machine answers itself.
    pub(super) roots_keys: Vec<Box<str>>,
}

/// The purpose of a call, where the machine itself acts on its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    User,
    ListTools {
        has_cursor: bool,
    },
    /// Change the desired state once the server has accepted it.
    Change(DesiredChange),
    /// Internal: restore a part of the desired state in a new session.
    Restore(DesiredChange),
    /// Internal: request the tool list for a call.
    Relist(Box<Relisting>),
    /// Internal: request a page of the tool list, to know which tools are called as
    /// tasks.
    ListForTasks {
        page: u32,
    },
    /// Internal: cancel a task that nobody waits for.
    CancelTask,
}

impl Purpose {
    /// Returns the purpose of a caller's request.
    pub(super) fn for_message(message: &OutgoingMessage) -> Self {
        if message.method() == method::TOOLS_LIST {
            let has_cursor = message.has_member("cursor");
            return Self::ListTools { has_cursor };
        }
        Self::User
    }

    /// Returns whether the machine itself made the call, so no caller waits for it.
    pub(super) fn is_internal(&self) -> bool {
        matches!(
            self,
            Self::Restore(_) | Self::Relist(_) | Self::ListForTasks { .. } | Self::CancelTask
        )
    }
}

impl Call {
    /// Returns the id under which a response is expected, if any.
    pub(super) fn wire_id(&self) -> Option<u64> {
        match &self.phase {
            Phase::InFlight { wire_id, .. } => Some(*wire_id),
            _ => None,
        }
    }

    /// Returns the timeout of the call's current phase.
    pub(super) fn current_timeout(&self, timeouts: &Timeouts) -> Duration {
        match self.phase {
            Phase::AwaitingInput(_) => timeouts.input,
            _ if self.awaits_host => timeouts.input,
            _ => self.timeout,
        }
    }

    /// Rebuilds the original request, to be sent again.
    pub(super) fn rebuild_message(&self) -> Option<OutgoingMessage> {
        let members = self.members.as_ref()?;
        Some(OutgoingMessage::from_members(self.method.clone(), members))
    }
}

/// The table of open calls.
///
/// A call's number is the id of its first request, so the usual response is found by
/// one lookup. Later requests of the same call (another round, or a request that had to
/// wait for the connection) have an alias.
#[derive(Debug, Default)]
pub(super) struct Calls {
    table: CallMap<Call>,
    aliases: BTreeMap<u64, CallId>,
}

impl Calls {
    pub(super) fn insert(&mut self, id: CallId, call: Call) {
        self.table.insert(id, call);
    }

    pub(super) fn get_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.table.get_mut(&id)
    }

    pub(super) fn get(&self, id: CallId) -> Option<&Call> {
        self.table.get(&id)
    }

    /// Maps responses to `wire_id` to the call.
    pub(super) fn alias(&mut self, wire_id: u64, id: CallId) {
        if wire_id != id.0 {
            self.aliases.insert(wire_id, id);
        }
    }

    pub(super) fn remove_alias(&mut self, wire_id: u64) {
        self.aliases.remove(&wire_id);
    }

    /// Returns the call that waits for the response to `wire_id`.
    pub(super) fn find_in_flight(&self, wire_id: u64) -> Option<CallId> {
        let alias = self.aliases.get(&wire_id).copied();
        let id = alias.unwrap_or(CallId(wire_id));
        let call = self.table.get(&id)?;
        (call.wire_id() == Some(wire_id)).then_some(id)
    }

    pub(super) fn remove(&mut self, id: CallId) -> Option<Call> {
        self.table.remove(&id)
    }

    /// Returns all calls, oldest first.
    pub(super) fn ids(&self) -> Vec<CallId> {
        let mut ids: Vec<_> = self.table.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn alias_count(&self) -> usize {
        self.aliases.len()
    }
}
