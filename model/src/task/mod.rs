//! The model of tasks: conversations whose states are in a store, and which nodes take
//! over from each other.
//!
//! A task asks one question, runs one step and ends. A node runs one task at a time; a
//! task for which it has no room stays in the store until its lease has expired.

mod action;
mod client;
mod record;
mod run;

pub use action::Action;
pub use record::{Record, RecordedRound, Status};
pub use run::{Stage, TaskRun};

use crate::{
    checker::Model,
    faults::{Budget, Durable, Event, Leases, add_events},
    journal::Journal,
    node::{Holder, NODES, Node, Ownership, sorted_by},
    promise::{Promise, Promises},
    round::{self, Script},
    world::World,
};

/// The number of tasks.
pub const TASKS: usize = 2;

/// Tasks on nodes that share a store.
#[derive(Clone, Copy, Debug)]
pub struct Tasks {
    /// What the handler does.
    pub script: Script,
    /// How many tasks there are.
    pub count: usize,
    /// How many nodes there are.
    pub nodes: usize,
    /// How leases behave.
    pub leases: Leases,
    /// The faults that may happen.
    pub faults: Budget,
    /// Whether the store may forget its last writes, once.
    pub forgets: bool,
    /// Whether a record is replaced only by a writer that knows its version.
    pub has_versions: bool,
    /// Whether nodes claim tasks whose lease has expired.
    pub has_takeovers: bool,
    /// Whether clients cancel tasks, or refuse to answer.
    pub has_cancellation: bool,
    /// Who may write the end of a round.
    pub ownership: Ownership,
    /// Whether a refusal counts only while the task waits for an answer.
    pub checks_refusals: bool,
    /// Whether a node looks for a task whose creation was not confirmed, and cancels it
    /// if it cannot find out.
    pub checks_creation: bool,
}

/// A state of the model.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) store: Store,
    pub(crate) durable: Durable<Store>,
    pub(crate) runs: [Option<TaskRun>; NODES],
    pub(crate) worlds: [World; TASKS],
    pub(crate) clients: [Client; TASKS],
    pub(crate) left: Budget,
    pub(crate) broken: Promises,
}

/// What is in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Store {
    pub(crate) records: [Record; TASKS],
    pub(crate) journals: [Journal; TASKS],
}

/// What the client of a task has done and been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// It made its call. Another call would be another task.
    pub(crate) has_called: bool,
    /// Its call was answered with an error.
    pub(crate) got_error: bool,
    /// An answer was accepted.
    pub(crate) has_answered: bool,
    /// It was asked on a request that is still open.
    pub(crate) is_asked: bool,
}

type Next = Vec<(Action, State)>;

impl State {
    pub(crate) fn conversation(&mut self, task: usize) -> round::Conversation<'_> {
        round::Conversation {
            journal: &mut self.store.journals[task],
            world: &mut self.worlds[task],
            broken: &mut self.broken,
        }
    }

    /// Returns the next state if an action has written something that the store does not
    /// keep.
    fn unkept(&self, after: &Self) -> Option<Self> {
        let (one, other) = (&self.store, &after.store);
        let mut journals = one.journals.iter().zip(&other.journals);
        let values = |store: &Store| store.records.map(|it| (it.status, it.round, it.answer));
        let is_write =
            values(one) != values(other) || !journals.all(|(one, other)| one.has_entries_of(other));
        (is_write && self.durable == Durable::Undecided).then(|| Self {
            durable: Durable::Only(self.store),
            ..after.clone()
        })
    }

    /// Replaces a record, which gives it a new version.
    pub(crate) fn replace(&mut self, task: usize, record: Record) {
        let before = std::mem::replace(&mut self.store.records[task], record);
        if before.status.is_terminal() && before.status != record.status {
            self.broken.insert(Promise::EndsOnce);
        }
        for run in self.runs.iter_mut().flatten() {
            run.outdate(task);
        }
    }
}

impl Model for Tasks {
    type State = State;
    type Action = Event<Action>;

    fn initial(&self) -> State {
        State {
            store: Store::default(),
            durable: Durable::new(self.forgets),
            runs: [None; NODES],
            worlds: Default::default(),
            clients: Default::default(),
            left: self.faults,
            broken: Promises::default(),
        }
    }

    fn successors(&self, state: &State, next: &mut Vec<(Event<Action>, State)>) {
        let mut actions = Next::new();
        self.actions(state, &mut actions);
        add_events(actions, |after| state.unkept(after), next);
    }

    fn is_fault(&self, event: &Event<Action>) -> bool {
        event.is_unkept || event.action.is_fault()
    }

    fn broken(&self, state: &State) -> Promises {
        state.broken
    }

    fn is_done(&self, state: &State) -> bool {
        let records = state.store.records.iter().take(self.count);
        let mut tasks = records.zip(&state.clients);
        // A task that the store has forgotten is unknown to everyone.
        tasks.all(|(record, client)| match record.status {
            Status::Absent => client.has_called,
            status => status.is_terminal(),
        })
    }

    fn canonical(&self, mut state: State) -> State {
        let order = sorted_by(|node| {
            let durable = match &state.durable {
                Durable::Only(store) => store.roles(node),
                _ => Default::default(),
            };
            let is_absent = node.index() >= self.nodes;
            (
                is_absent,
                state.runs[node.index()],
                state.store.roles(node),
                durable,
            )
        });
        if order == [Node(0), Node(1), Node(2)] {
            return state;
        }
        state.runs = order.map(|node| state.runs[node.index()]);
        state.store.rename(&order);
        if let Durable::Only(store) = &mut state.durable {
            store.rename(&order);
        }
        state
    }
}

impl Store {
    /// Returns what a node holds.
    fn roles(&self, node: Node) -> [(bool, bool, bool); TASKS] {
        let is = |holder: Holder| holder == Holder::Node(node);
        [0, 1].map(|task| {
            let (record, journal) = (&self.records[task], &self.journals[task]);
            (is(record.lease), is(journal.lease), is(journal.unconfirmed))
        })
    }

    fn rename(&mut self, order: &[Node; NODES]) {
        for record in &mut self.records {
            record.lease = record.lease.renamed(order);
        }
        for journal in &mut self.journals {
            journal.lease = journal.lease.renamed(order);
            journal.unconfirmed = journal.unconfirmed.renamed(order);
        }
    }

    fn bury(&mut self, node: Node) {
        self.records.iter_mut().for_each(|it| it.lease.bury(node));
        self.journals.iter_mut().for_each(|it| it.bury(node));
    }
}

impl Tasks {
    fn actions(&self, state: &State, next: &mut Next) {
        for node in Node::first(self.nodes) {
            for task in 0..self.count {
                self.create(state, node, task, next);
                self.answer(state, node, task, next);
                self.claim(state, node, task, next);
            }
            self.go_on(state, node, next);
            self.crash(state, node, next);
        }
        for task in 0..self.count {
            self.cancel(state, task, next);
            self.refuse(state, task, next);
            self.expire(state, task, next);
        }
        self.forget(state, next);
    }
}

/// Faults.
impl Tasks {
    fn crash(&self, state: &State, node: Node, next: &mut Next) {
        let is_held = |it: &Record| it.lease == Holder::Node(node);
        let matters = state.runs[node.index()].is_some() || state.store.records.iter().any(is_held);
        if state.left.crashes == 0 || !matters {
            return;
        }
        let mut after = state.clone();
        after.left.crashes -= 1;
        after.runs[node.index()] = None;
        after.store.bury(node);
        if let Durable::Only(store) = &mut after.durable {
            store.bury(node);
        }
        next.push((Action::Crash(node), after));
    }

    fn expire(&self, state: &State, task: usize, next: &mut Next) {
        let (record, journal) = (&state.store.records[task], &state.store.journals[task]);
        let may_expire = |lease: Holder, is_alive: bool| match self.leases {
            Leases::Respected => lease != Holder::None && !is_alive,
            Leases::Expire => lease != Holder::None,
            Leases::Absent => false,
        };
        if may_expire(record.lease, state.is_renewed(task, record.lease)) && !record.is_expired {
            let mut after = state.clone();
            after.store.records[task].is_expired = true;
            next.push((Action::Expire(task), after));
        }
        let is_alive = matches!(journal.lease, Holder::Node(_));
        if may_expire(journal.lease, is_alive) && !journal.is_expired {
            let mut after = state.clone();
            after.store.journals[task].is_expired = true;
            next.push((Action::ExpireJournal(task), after));
        }
    }

    fn forget(&self, state: &State, next: &mut Next) {
        if let Durable::Only(store) = state.durable {
            let mut after = state.clone();
            for task in 0..self.count {
                after.replace(task, store.records[task]);
            }
            after.store.journals = store.journals;
            after.durable = Durable::All;
            next.push((Action::Forget, after));
        }
    }
}

impl State {
    /// Returns whether someone renews the lease of a task.
    fn is_renewed(&self, task: usize, lease: Holder) -> bool {
        let Holder::Node(node) = lease else {
            return false;
        };
        let run = self.runs[node.index()];
        run.is_some_and(|run| run.task() == task && !run.is_stopped())
    }
}
