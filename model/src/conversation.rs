//! The model of conversations whose states clients hold.
//!
//! Clients are the adversary: they send any state that they ever received, with any
//! answer, to any node, as often as they like. A node runs one round at a time; one
//! that runs two is like two nodes that die together.

use std::fmt;

use crate::{
    checker::Model,
    faults::{Budget, Durable, Event, Leases, add_events},
    journal::{Answer, Course, Entry, Journal, Outcome, Work},
    node::{Holder, NODES, Node, sorted_by},
    promise::Promises,
    round::{self, Opened, Phase, Progress, Round, Script},
    world::World,
};

/// The number of conversations.
pub const CONVERSATIONS: usize = 2;

/// Conversations on nodes that share a store of journals.
#[derive(Clone, Copy, Debug)]
pub struct Conversations {
    /// What the handler does.
    pub script: Script,
    /// How many conversations there are.
    pub count: usize,
    /// How many nodes there are.
    pub nodes: usize,
    /// How leases behave.
    pub leases: Leases,
    /// The faults that may happen.
    pub faults: Budget,
    /// Whether the store may forget its last writes, once.
    pub forgets: bool,
}

/// A state of the model.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    journals: [Journal; CONVERSATIONS],
    durable: Durable<[Journal; CONVERSATIONS]>,
    /// The states of the second round that clients have received, as a set of the
    /// first answer and the outcome of the first step.
    issued: [u16; CONVERSATIONS],
    /// The conversation that each node works on, and its round.
    runs: [Option<(u8, Round)>; NODES],
    worlds: [World; CONVERSATIONS],
    left: Budget,
    broken: Promises,
}

/// An action of the model.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// A request arrives at a node, which opens the journal.
    Open(Node, u8, Course, Opened),
    /// A node appends an entry, and knows the outcome.
    Append(Node, u8, Entry, Progress),
    /// A node appends an entry, and the reply is lost.
    LoseReply(Node, u8, Entry),
    /// A node tries to append an entry, which is lost.
    LoseRequest(Node, u8, Entry),
    /// A node stops trying to append an entry.
    GiveUp(Node, u8),
    /// A step runs.
    Perform(Node, u8, Work),
    /// A node writes the result of a step that it has not run. No code does this.
    Invent(Node, u8),
    /// A node renews its lease.
    Renew(Node, u8),
    /// A lease expires.
    Expire(u8),
    /// A node dies.
    Crash(Node),
    /// The store forgets.
    Forget,
}

impl State {
    fn with(&self, index: u8, change: impl FnOnce(&mut round::Conversation<'_>)) -> Self {
        let mut next = self.clone();
        change(&mut next.conversation(index));
        next
    }

    fn conversation(&mut self, index: u8) -> round::Conversation<'_> {
        let index = usize::from(index);
        round::Conversation {
            journal: &mut self.journals[index],
            world: &mut self.worlds[index],
            broken: &mut self.broken,
        }
    }

    /// Returns the next state if an action has written an entry that the store does not
    /// keep.
    fn unkept(&self, after: &Self) -> Option<Self> {
        let mut pairs = self.journals.iter().zip(&after.journals);
        let is_write = !pairs.all(|(one, other)| one.has_entries_of(other));
        (is_write && self.durable == Durable::Undecided).then(|| Self {
            durable: Durable::Only(self.journals),
            ..after.clone()
        })
    }

    fn issue(&mut self, index: u8, course: Course, outcome: Outcome) {
        self.issued[usize::from(index)] |= state_bit(course.first, outcome);
    }

    /// The courses that a client can ask for with the states that it has. Its first
    /// answer in each round has the first name, as long as nothing depends on another.
    fn courses(&self, index: usize) -> impl Iterator<Item = Course> {
        let issued = self.issued[index];
        let answers = |round: u8| match self.has_begun(index, round) {
            true => &[Answer::X, Answer::Y][..],
            false => &[Answer::X],
        };
        let (firsts, seconds) = (answers(0), answers(1));
        let first = firsts.iter().map(|first| Course {
            round: 0,
            first: *first,
            outcome: Outcome::NoStep,
            second: Answer::None,
        });
        let later = STATES.into_iter().flat_map(move |(first, outcome)| {
            let known = issued & state_bit(first, outcome) != 0;
            let seconds = seconds.iter().filter(move |_| known);
            seconds.map(move |second| Course {
                round: 1,
                first,
                outcome,
                second: *second,
            })
        });
        first.chain(later)
    }

    /// Whether anything remembers an answer of a round, or of a later one.
    fn has_begun(&self, index: usize, round: u8) -> bool {
        let runs = self.runs.iter().flatten();
        let mut rounds = runs.filter(|(it, _)| usize::from(*it) == index);
        let is_durable = |journals: &[Journal; CONVERSATIONS]| journals[index].has_round(round);
        rounds.any(|(_, it)| it.course.round >= round)
            || self.worlds[index].has_begun(round)
            || is_durable(&self.journals)
            || matches!(&self.durable, Durable::Only(journals) if is_durable(journals))
    }
}

const STATES: [(Answer, Outcome); 8] = [
    (Answer::X, Outcome::Value),
    (Answer::X, Outcome::Unknown),
    (Answer::X, Outcome::Found),
    (Answer::X, Outcome::NotFound),
    (Answer::Y, Outcome::Value),
    (Answer::Y, Outcome::Unknown),
    (Answer::Y, Outcome::Found),
    (Answer::Y, Outcome::NotFound),
];

fn state_bit(first: Answer, outcome: Outcome) -> u16 {
    let place = STATES.iter().position(|it| *it == (first, outcome));
    place.map_or(0, |place| 1 << place)
}

type Next = Vec<(Action, State)>;

impl Model for Conversations {
    type State = State;
    type Action = Event<Action>;

    fn initial(&self) -> State {
        State {
            journals: Default::default(),
            durable: Durable::new(self.forgets),
            issued: [0; CONVERSATIONS],
            runs: [None; NODES],
            worlds: Default::default(),
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
        use Action::{Crash, Forget, LoseReply, LoseRequest};
        let is_fault = matches!(
            event.action,
            Crash(_) | LoseReply(..) | LoseRequest(..) | Forget
        );
        is_fault || event.is_unkept
    }

    fn broken(&self, state: &State) -> Promises {
        state.broken
    }

    fn is_done(&self, state: &State) -> bool {
        state
            .journals
            .iter()
            .take(self.count)
            .all(Journal::has_ended)
    }

    fn canonical(&self, mut state: State) -> State {
        let order = sorted_by(|node| {
            let is = |holder: Holder| holder == Holder::Node(node);
            let roles = |journals: &[Journal; CONVERSATIONS]| {
                journals.map(|it| (is(it.lease), is(it.unconfirmed)))
            };
            let durable = match &state.durable {
                Durable::Only(journals) => roles(journals),
                _ => Default::default(),
            };
            let run = state.runs[node.index()];
            let is_absent = node.index() >= self.nodes;
            (is_absent, run, roles(&state.journals), durable)
        });
        if order == [Node(0), Node(1), Node(2)] {
            return state;
        }
        state.runs = order.map(|node| state.runs[node.index()]);
        let rename = |journal: &mut Journal| {
            journal.lease = journal.lease.renamed(&order);
            journal.unconfirmed = journal.unconfirmed.renamed(&order);
        };
        state.journals.iter_mut().for_each(rename);
        if let Durable::Only(journals) = &mut state.durable {
            journals.iter_mut().for_each(rename);
        }
        state
    }
}

impl Conversations {
    fn actions(&self, state: &State, next: &mut Next) {
        for node in Node::first(self.nodes) {
            match state.runs[node.index()] {
                None => self.open(state, node, next),
                Some((index, round)) => {
                    self.go_on(state, node, index, round, next);
                    self.renew(state, node, index, next);
                }
            }
            self.crash(state, node, next);
        }
        self.expire(state, next);
        self.forget(state, next);
    }

    fn open(&self, state: &State, node: Node, next: &mut Next) {
        for index in 0..self.count as u8 {
            for course in state.courses(usize::from(index)) {
                let mut after = state.clone();
                let opened = self
                    .script
                    .open(&mut after.conversation(index), node, course);
                match opened {
                    Opened::Waits => continue,
                    Opened::Runs(round) => after.runs[node.index()] = Some((index, round)),
                    Opened::Suspended(outcome) => after.issue(index, course, outcome),
                    Opened::Refused(_) | Opened::Finished(_) => {}
                }
                if after != *state {
                    next.push((Action::Open(node, index, course, opened), after));
                }
            }
        }
    }

    fn go_on(&self, state: &State, node: Node, index: u8, round: Round, next: &mut Next) {
        let entry = match round.phase {
            Phase::Append(entry) => entry,
            Phase::Granted(work) => return self.perform(state, node, index, round, work, next),
        };
        let (mut after, mut round) = (state.clone(), round);
        let retries = round.retries;
        let progress = self
            .script
            .append(&mut after.conversation(index), &mut round, node, entry);
        if let Progress::Suspended(outcome) = progress {
            after.issue(index, round.course, outcome);
        }
        let is_running = progress == Progress::Continues;
        after.runs[node.index()] = is_running.then_some((index, round));
        next.push((Action::Append(node, index, entry, progress), after));
        if retries {
            let mut after = state.with(index, |at| at.journal.release(node));
            after.runs[node.index()] = None;
            next.push((Action::GiveUp(node, index), after));
        }
        self.lose(state, node, index, entry, next);
    }

    /// The request to append an entry is lost, or the reply.
    fn lose(&self, state: &State, node: Node, index: u8, entry: Entry, next: &mut Next) {
        let (Some((_, round)), true) = (state.runs[node.index()], state.left.lost_messages > 0)
        else {
            return;
        };
        for is_written in [true, false] {
            let (mut after, mut round) = (state.clone(), round);
            after.left.lost_messages -= 1;
            let journal = &mut after.journals[usize::from(index)];
            match is_written {
                true => self
                    .script
                    .append_unconfirmed(journal, &mut round, node, entry),
                false => round.retries = true,
            }
            after.runs[node.index()] = Some((index, round));
            let action = match is_written {
                true => Action::LoseReply(node, index, entry),
                false => Action::LoseRequest(node, index, entry),
            };
            next.push((action, after));
        }
    }

    fn perform(
        &self,
        state: &State,
        node: Node,
        index: u8,
        round: Round,
        work: Work,
        next: &mut Next,
    ) {
        let mut performed = round;
        let mut after = state.with(index, |at| self.script.perform(at, &mut performed, work));
        after.runs[node.index()] = Some((index, performed));
        next.push((Action::Perform(node, index, work), after));
        if !self.script.result_after_effect && work == Work::Effect {
            let (mut after, mut invented) = (state.clone(), round);
            invented.phase = Phase::Append(Entry::Result(work, Outcome::Value));
            after.runs[node.index()] = Some((index, invented));
            next.push((Action::Invent(node, index), after));
        }
    }

    fn renew(&self, state: &State, node: Node, index: u8, next: &mut Next) {
        let mut after = state.clone();
        if after.journals[usize::from(index)].renew(node) {
            next.push((Action::Renew(node, index), after));
        }
    }

    fn crash(&self, state: &State, node: Node, next: &mut Next) {
        if state.left.crashes == 0 || state.runs[node.index()].is_none() {
            return;
        }
        let mut after = state.clone();
        after.left.crashes -= 1;
        after.runs[node.index()] = None;
        after.journals.iter_mut().for_each(|it| it.bury(node));
        if let Durable::Only(journals) = &mut after.durable {
            journals.iter_mut().for_each(|it| it.bury(node));
        }
        next.push((Action::Crash(node), after));
    }

    fn expire(&self, state: &State, next: &mut Next) {
        for (index, journal) in state.journals.iter().enumerate() {
            let may_expire = match self.leases {
                Leases::Respected => journal.lease == Holder::Gone,
                Leases::Expire => journal.lease != Holder::None,
                Leases::Absent => false,
            };
            if may_expire && !journal.is_expired {
                let mut after = state.clone();
                after.journals[index].is_expired = true;
                next.push((Action::Expire(index as u8), after));
            }
        }
    }

    fn forget(&self, state: &State, next: &mut Next) {
        if let Durable::Only(journals) = state.durable {
            let mut after = state.clone();
            after.journals = journals;
            after.durable = Durable::All;
            next.push((Action::Forget, after));
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |index: &u8| ['A', 'B'][usize::from(*index)];
        match self {
            Self::Open(node, index, course, opened) => {
                let name = name(index);
                write!(f, "{node}: open {name} with {course}: {opened}")
            }
            Self::Append(node, index, entry, progress) => {
                write!(
                    f,
                    "{node}: append to {} \"{entry}\": {progress}",
                    name(index)
                )
            }
            Self::LoseReply(node, index, entry) => {
                let name = name(index);
                write!(
                    f,
                    "{node}: append to {name} \"{entry}\": if written, the reply is lost"
                )
            }
            Self::LoseRequest(node, index, entry) => {
                let name = name(index);
                write!(
                    f,
                    "{node}: append to {name} \"{entry}\": the request is lost"
                )
            }
            Self::GiveUp(node, index) => write!(f, "{node}: give up the round of {}", name(index)),
            Self::Perform(node, index, Work::Effect) => {
                write!(f, "{node}: the step of {} HAS ITS EFFECT", name(index))
            }
            Self::Perform(node, index, Work::Recover) => {
                write!(f, "{node}: recover looks for the effect of {}", name(index))
            }
            Self::Invent(node, index) => {
                write!(f, "{node}: take the step of {} for done", name(index))
            }
            Self::Renew(node, index) => write!(f, "{node}: renew the lease of {}", name(index)),
            Self::Expire(index) => write!(f, "the lease of {} expires", name(index)),
            Self::Crash(node) => write!(f, "{node} dies"),
            Self::Forget => write!(f, "the store forgets what it did not keep"),
        }
    }
}
