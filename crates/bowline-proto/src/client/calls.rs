//! The calls under way.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use bytes::Bytes;
use memchr::memmem;

use super::{
    CallId, CallMap, CallOptions, Timeouts, binding::Binding, request::ToolName,
    tool_list::Relisting,
};
use crate::{
    Instant,
    jsonrpc::OutgoingMessage,
    model::{
        LogLevel, Meta,
        method::{self, MethodInfo},
    },
};

/// One call under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Cow<'static, str>,
    /// What the protocol says of the method, if it is one of the protocol's.
    pub(super) info: Option<&'static MethodInfo>,
    pub(super) phase: Phase,
    pub(super) purpose: Purpose,
    pub(super) options: CallOptions,
    /// What the request carries besides its parameters, for every time it is
    /// sent.
    pub(super) meta: Option<Box<Meta>>,
    pub(super) tool: Option<ToolName>,
    pub(super) binding: Binding,
    /// The parameters as they were sent, kept only where they may be needed
    /// again.
    pub(super) members: Option<Bytes>,
    /// The time that the answer may take, counted from each sending.
    pub(super) timeout: Duration,
    /// When the call ends unless something happens. Always armed.
    pub(super) deadline: Instant,
    /// The moment that progress cannot push the deadline beyond.
    pub(super) max_deadline: Option<Instant>,
    pub(super) started: Instant,
    pub(super) correlation: u64,
    /// How many rounds of input the server has asked for.
    pub(super) rounds: u32,
    /// Whether it waits for the host's answer to a question that may be about
    /// it, and how often it has.
    pub(super) awaits_host: bool,
    pub(super) deadline_pauses: u32,
    /// Whether it was moved to a new session already, because the server did
    /// not know the old one.
    pub(super) moved_session: bool,
    /// Whether the tool list was asked for on its behalf already.
    pub(super) relisted: bool,
    /// Whether it only asks if the server is there.
    pub(super) is_ping: bool,
}

/// Where a call stands.
#[derive(Debug)]
pub(super) enum Phase {
    /// Not sent: the connection is not open. `None` for a moment only, while
    /// the draft is on its way out.
    Queued(Option<OutgoingMessage>),
    /// Refused as busy; will be offered again.
    Retrying {
        wire_id: u64,
        frame: Bytes,
        sends: u32,
        at: Instant,
    },
    /// Sent, as `wire`, `sends` times.
    InFlight { wire_id: u64, sends: u32 },
    /// The host is being asked; the answer will be sent as a new request.
    AwaitingInput(PendingInput),
    /// The server asked for a pause; the request will be sent again.
    Paused {
        request_state: Option<Box<str>>,
        at: Instant,
    },
    /// A subscription that waits for the stream's acknowledgement.
    Subscribing,
}

/// What must be remembered while the host is being asked.
#[derive(Debug)]
pub(super) struct PendingInput {
    /// To be echoed byte for byte.
    pub(super) request_state: Option<Box<str>>,
    /// The questions that the machine answers itself: where our roots are.
    pub(super) roots_keys: Vec<Box<str>>,
}

/// What a call is for, where the machine itself has an interest in its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    User,
    ListTools {
        has_cursor: bool,
    },
    Subscribe(Box<str>),
    Unsubscribe(Box<str>),
    SetLevel(LogLevel),
    /// Ours: restore a subscription after a reconnection.
    RestoreSubscription(Box<str>),
    /// Ours: restore the log level after a reconnection.
    RestoreLevel,
    /// Ours: look at the tool list on behalf of a call.
    Relist(Box<Relisting>),
}

impl Purpose {
    /// What a caller's request means to the machine.
    pub(super) fn for_message(message: &OutgoingMessage) -> Self {
        if message.method() == method::TOOLS_LIST {
            let has_cursor = memmem::find(message.members(), b"\"cursor\"").is_some();
            return Self::ListTools { has_cursor };
        }
        Self::User
    }

    /// Whether somebody outside waits for the end of the call.
    pub(super) fn is_internal(&self) -> bool {
        matches!(
            self,
            Self::RestoreSubscription(_) | Self::RestoreLevel | Self::Relist(_)
        )
    }
}

impl Call {
    /// The id under which an answer is expected, if one is.
    pub(super) fn wire_id(&self) -> Option<u64> {
        match &self.phase {
            Phase::InFlight { wire_id, .. } => Some(*wire_id),
            _ => None,
        }
    }

    /// The time that the call has in the phase that it is in.
    pub(super) fn current_timeout(&self, timeouts: &Timeouts) -> Duration {
        match self.phase {
            Phase::AwaitingInput(_) => timeouts.input,
            _ if self.awaits_host => timeouts.input,
            _ => self.timeout,
        }
    }

    /// The request as it was first asked for, to be sent anew.
    pub(super) fn rebuild_message(&self) -> Option<OutgoingMessage> {
        let members = self.members.as_ref()?;
        Some(OutgoingMessage::from_members(self.method.clone(), members))
    }
}

/// The table of calls.
///
/// A call's number is the id of its first request, so that the usual answer is
/// found by one look-up; later requests of the same call (a further round, or
/// a request that had to wait for the connection) have an alias.
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

    /// Lets answers to `wire` find the call.
    pub(super) fn alias(&mut self, wire_id: u64, id: CallId) {
        if wire_id != id.0 {
            self.aliases.insert(wire_id, id);
        }
    }

    pub(super) fn remove_alias(&mut self, wire_id: u64) {
        self.aliases.remove(&wire_id);
    }

    /// The call that waits for the answer to `wire`.
    pub(super) fn find_in_flight(&self, wire_id: u64) -> Option<CallId> {
        let alias = self.aliases.get(&wire_id).copied();
        let id = alias.unwrap_or(CallId(wire_id));
        let call = self.table.get(&id)?;
        (call.wire_id() == Some(wire_id)).then_some(id)
    }

    pub(super) fn remove(&mut self, id: CallId) -> Option<Call> {
        self.table.remove(&id)
    }

    /// All calls, oldest first.
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
