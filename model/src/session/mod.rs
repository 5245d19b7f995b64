//! The model of sessions that one node owns, as they are planned: other nodes forward
//! requests to the owner, and take a session up when its owner is gone.
//!
//! The owner holds a lease with a fencing token, and writes with it that a call begins
//! and how it ended. A node that takes a session up reports calls in progress as lost.

mod action;
mod owner;

pub use action::Action;

use crate::{
    checker::Model,
    faults::{Budget, Durable, Event, Leases, add_events},
    node::{Holder, NODES, Node, Ownership, sorted_by},
    promise::Promises,
};

/// The number of sessions, and of calls in each.
pub const SESSIONS: usize = 2;
/// The number of calls in each session.
pub const CALLS: usize = 2;

/// Sessions on nodes that share a store.
#[derive(Clone, Copy, Debug)]
pub struct Sessions {
    /// How many sessions there are.
    pub count: usize,
    /// How many calls each has.
    pub calls: usize,
    /// How many nodes there are.
    pub nodes: usize,
    /// How leases behave.
    pub leases: Leases,
    /// The faults that may happen.
    pub faults: Budget,
    /// Whether the store may forget its last writes, once.
    pub forgets: bool,
    /// Whether the store refuses writes with an old token.
    pub has_fencing: bool,
    /// Whether a call writes with the token with which it began, or with the one that its
    /// node has now.
    pub ownership: Ownership,
    /// Whether the beginning of a call is written before it runs.
    pub records_calls: bool,
}

/// A state of the model.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    sessions: [Record; SESSIONS],
    durable: Durable<[Record; SESSIONS]>,
    /// What each node believes about each session.
    beliefs: [[Belief; SESSIONS]; NODES],
    /// The call that each node handles.
    runs: [Option<CallRun>; NODES],
    /// A request on its way from one node to another.
    forwarded: [Option<(u8, Node)>; SESSIONS],
    world: [[Facts; CALLS]; SESSIONS],
    left: Budget,
    broken: Promises,
}

/// What the store has of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    owner: Holder,
    is_expired: bool,
    calls: [CallStatus; CALLS],
}

/// What the store has of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallStatus {
    /// Nothing.
    #[default]
    Unseen,
    /// It began.
    Running,
    /// It has a result.
    Done,
    /// Its node was gone before it had a result.
    Lost,
}

/// What a node believes about a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Belief {
    /// It does not have it.
    #[default]
    Other,
    /// It owns it, with the latest token.
    Owner,
    /// It owns it, with a token that is old.
    Former,
}

/// A call that a node handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallRun {
    session: u8,
    call: u8,
    phase: CallPhase,
    /// Whether the session was taken up since it began.
    is_old: bool,
}

/// What a node does next with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallPhase {
    /// Writes that it begins.
    Begins,
    /// Runs it.
    Granted,
    /// Writes its result.
    Performed,
    /// Writes that it is lost: it is unknown whether its beginning was written.
    Abandons,
}

/// What has happened to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Facts {
    has_effect: bool,
    has_result: bool,
    is_lost: bool,
}

type Next = Vec<(Action, State)>;

impl Model for Sessions {
    type State = State;
    type Action = Event<Action>;

    fn initial(&self) -> State {
        State {
            sessions: Default::default(),
            durable: Durable::new(self.forgets),
            beliefs: Default::default(),
            runs: [None; NODES],
            forwarded: [None; SESSIONS],
            world: Default::default(),
            left: self.faults,
            broken: Promises::default(),
        }
    }

    fn successors(&self, state: &State, next: &mut Vec<(Event<Action>, State)>) {
        let mut actions = Next::new();
        for node in Node::first(self.nodes) {
            for session in 0..self.count {
                for call in 0..self.calls {
                    self.request(state, node, session, call, &mut actions);
                }
                self.renew(state, node, session, &mut actions);
            }
            self.go_on(state, node, &mut actions);
            self.crash(state, node, &mut actions);
        }
        for session in 0..self.count {
            self.deliver(state, session, &mut actions);
            self.expire(state, session, &mut actions);
        }
        self.forget(state, &mut actions);
        add_events(actions, |after| state.unkept(after), next);
    }

    fn is_fault(&self, event: &Event<Action>) -> bool {
        event.is_unkept || event.action.is_fault()
    }

    fn broken(&self, state: &State) -> Promises {
        state.broken
    }

    fn is_done(&self, state: &State) -> bool {
        let mut sessions = state.sessions.iter().take(self.count);
        let has_ended = |it: &CallStatus| matches!(it, CallStatus::Done | CallStatus::Lost);
        sessions.all(|it| it.calls.iter().take(self.calls).all(has_ended))
    }

    fn canonical(&self, mut state: State) -> State {
        let order = sorted_by(|node| {
            let owned =
                |sessions: &[Record; SESSIONS]| sessions.map(|it| it.owner == Holder::Node(node));
            let durable = match &state.durable {
                Durable::Only(sessions) => owned(sessions),
                _ => [false; SESSIONS],
            };
            let forwarded = state
                .forwarded
                .map(|it| it.is_some_and(|(_, to)| to == node));
            let index = node.index();
            let own = (state.beliefs[index], state.runs[index]);
            let is_absent = index >= self.nodes;
            (is_absent, own, owned(&state.sessions), durable, forwarded)
        });
        if order == [Node(0), Node(1), Node(2)] {
            return state;
        }
        state.beliefs = order.map(|node| state.beliefs[node.index()]);
        state.runs = order.map(|node| state.runs[node.index()]);
        let rename = |it: &mut Record| it.owner = it.owner.renamed(&order);
        state.sessions.iter_mut().for_each(rename);
        if let Durable::Only(sessions) = &mut state.durable {
            sessions.iter_mut().for_each(rename);
        }
        for (_, to) in state.forwarded.iter_mut().flatten() {
            if let Holder::Node(node) = Holder::Node(*to).renamed(&order) {
                *to = node;
            }
        }
        state
    }
}

impl State {
    /// Returns the next state if an action has written something that the store does not
    /// keep.
    fn unkept(&self, after: &Self) -> Option<Self> {
        let values = |it: &Record| (it.owner, it.calls);
        let is_write = self.sessions.map(|it| values(&it)) != after.sessions.map(|it| values(&it));
        (is_write && self.durable == Durable::Undecided).then(|| Self {
            durable: Durable::Only(self.sessions),
            ..after.clone()
        })
    }
}

/// Faults.
impl Sessions {
    fn crash(&self, state: &State, node: Node, next: &mut Next) {
        let index = node.index();
        let is_idle =
            state.runs[index].is_none() && state.beliefs[index] == [Belief::Other; SESSIONS];
        if state.left.crashes == 0 || is_idle {
            return;
        }
        let mut after = state.clone();
        after.left.crashes -= 1;
        after.beliefs[index] = Default::default();
        after.runs[index] = None;
        after.sessions.iter_mut().for_each(|it| it.owner.bury(node));
        if let Durable::Only(sessions) = &mut after.durable {
            sessions.iter_mut().for_each(|it| it.owner.bury(node));
        }
        next.push((Action::Crash(node), after));
    }

    fn expire(&self, state: &State, session: usize, next: &mut Next) {
        let record = &state.sessions[session];
        let may_expire = match self.leases {
            Leases::Respected => record.owner == Holder::Gone,
            Leases::Expire | Leases::Absent => record.owner != Holder::None,
        };
        if may_expire && !record.is_expired {
            let mut after = state.clone();
            after.sessions[session].is_expired = true;
            next.push((Action::Expire(session), after));
        }
    }

    /// The store forgets. A token has the name of its node, so one that the store has
    /// again is valid again, and no other is.
    fn forget(&self, state: &State, next: &mut Next) {
        let Durable::Only(sessions) = state.durable else {
            return;
        };
        let mut after = state.clone();
        after.sessions = sessions;
        after.durable = Durable::All;
        for (node, beliefs) in after.beliefs.iter_mut().enumerate() {
            for (belief, record) in beliefs.iter_mut().zip(&sessions) {
                *belief = match (*belief, record.owner) {
                    (Belief::Other, _) => Belief::Other,
                    (_, Holder::Node(owner)) if owner.index() == node => Belief::Owner,
                    _ => Belief::Former,
                };
            }
        }
        for (run, beliefs) in after.runs.iter_mut().zip(&after.beliefs) {
            if let Some(run) = run {
                run.is_old |= beliefs[usize::from(run.session)] != Belief::Owner;
            }
        }
        next.push((Action::Forget, after));
    }
}
