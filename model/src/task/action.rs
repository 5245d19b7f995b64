//! The actions of the model of tasks.

use std::fmt;

use super::{RecordedRound, Status};
use crate::{
    journal::{Answer, Entry, Work},
    node::Node,
    round::{Opened, Progress},
};

/// An action of the model.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// A call becomes a task. The second is `false` if the store's reply is lost.
    Create(Node, usize, bool),
    /// A node looks for a task that it may have created. The last is `false` if it gets
    /// no reply.
    Find(Node, usize, bool),
    /// A client answers the question of a task. The last is `false` if the store's
    /// reply is lost.
    Answer(Node, usize, Answer, Spawned),
    /// A node claims a task whose lease has expired.
    Claim(Node, usize, Spawned),
    /// A node opens the journal of its task.
    Open(Node, usize, Opened),
    /// A node appends an entry to the journal of its task.
    Append(Node, usize, Entry, Progress),
    /// A node appends an entry, and the reply is lost.
    LoseReply(Node, usize, Entry),
    /// A node gives up a round after an error of the store.
    GiveUp(Node, usize),
    /// A step runs.
    Perform(Node, usize, Work),
    /// A node renews the lease of its task, and finds out whether it has it.
    Renew(Node, usize, bool),
    /// A node renews the lease of its journal.
    RenewJournal(Node, usize),
    /// A node loads its task, to store how its round ended.
    Load(Node, usize, bool),
    /// A node stores how its round ended.
    Update(Node, usize, RecordedRound, Updated),
    /// A run leaves the list of those that run on its node.
    End(Node, usize),
    /// A client cancels a task, or a node one that its client does not know.
    Cancel(usize),
    /// A client is asked the question of a task, on a request that it has open.
    Ask(usize),
    /// The client refuses to answer there. This was the status of the task.
    Refuse(usize, Status),
    /// The lease of a task expires.
    Expire(usize),
    /// The lease of a journal expires.
    ExpireJournal(usize),
    /// A node dies.
    Crash(Node),
    /// The store forgets.
    Forget,
}

/// What became of a task that a node got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spawned {
    /// A run begins.
    Runs,
    /// It runs there already, as far as the node knows.
    RunsAlready,
    /// The node is busy.
    NoRoom,
    /// The store's reply is lost, so the node does not know that it got the task.
    ReplyLost,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// It was stored.
    Stored,
    /// The task changed meanwhile.
    Conflict,
    /// It was stored, and the reply is lost.
    ReplyLost,
}

impl Action {
    pub(super) fn is_fault(&self) -> bool {
        use Action::{Ask, Cancel, Crash, Create, Find, Forget, LoseReply, Refuse, Update};
        match self {
            Cancel(_) | Ask(_) | Refuse(..) | Crash(_) | Forget | LoseReply(..) => true,
            Create(_, _, is_known) | Find(_, _, is_known) => !is_known,
            Self::Answer(.., spawned) | Self::Claim(.., spawned) => *spawned == Spawned::ReplyLost,
            Update(.., updated) => *updated == Updated::ReplyLost,
            _ => false,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |task: &usize| ['A', 'B'][*task];
        match self {
            Self::Create(node, task, true) => {
                write!(f, "{node}: create {}, and run it", name(task))
            }
            Self::Create(node, task, false) => {
                write!(f, "{node}: create {}: the reply is lost", name(task))
            }
            Self::Answer(node, task, answer, spawned) => {
                write!(
                    f,
                    "{node}: {answer} to {} is accepted, {spawned}",
                    name(task)
                )
            }
            Self::Claim(node, task, spawned) => {
                write!(f, "{node}: claim {}, {spawned}", name(task))
            }
            Self::Open(node, task, opened) => {
                write!(f, "{node}: open the journal of {}: {opened}", name(task))
            }
            Self::Append(node, task, entry, progress) => {
                let name = name(task);
                write!(
                    f,
                    "{node}: append to the journal of {name} \"{entry}\": {progress}"
                )
            }
            Self::LoseReply(node, task, entry) => {
                let name = name(task);
                let lost = "if written, the reply is lost";
                write!(
                    f,
                    "{node}: append to the journal of {name} \"{entry}\": {lost}"
                )
            }
            Self::Perform(node, task, Work::Effect) => {
                write!(f, "{node}: the step of {} HAS ITS EFFECT", name(task))
            }
            Self::Perform(node, task, Work::Recover) => {
                write!(f, "{node}: recover looks for the effect of {}", name(task))
            }
            Self::Renew(node, task, true) => write!(f, "{node}: renew the lease of {}", name(task)),
            Self::Renew(node, task, false) => {
                write!(f, "{node}: lost the lease of {}, stops its run", name(task))
            }
            Self::Update(node, task, recorded, updated) => {
                write!(f, "{node}: update {}: {recorded}; {updated}", name(task))
            }
            other => other.fmt_short(f),
        }
    }
}

impl Action {
    /// Shows actions that have no outcome of their own.
    fn fmt_short(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |task: &usize| ['A', 'B'][*task];
        match self {
            Self::GiveUp(node, task) => write!(f, "{node}: give up the round of {}", name(task)),
            Self::RenewJournal(node, task) => {
                write!(
                    f,
                    "{node}: renew the lease of the journal of {}",
                    name(task)
                )
            }
            Self::Load(node, task, true) => write!(f, "{node}: load {}, has its lease", name(task)),
            Self::Load(node, task, false) => {
                write!(f, "{node}: load {}, which belongs to another", name(task))
            }
            Self::Find(node, task, true) => write!(f, "{node}: find {}, and run it", name(task)),
            Self::Find(node, task, false) => {
                write!(f, "{node}: look for {}: no reply", name(task))
            }
            Self::End(node, task) => write!(f, "{node}: the run of {} is over", name(task)),
            Self::Cancel(task) => write!(f, "{} is cancelled", name(task)),
            Self::Ask(task) => write!(f, "a client is asked the question of {}", name(task)),
            Self::Refuse(task, status) => {
                write!(
                    f,
                    "the client refuses to answer {}, which {status}",
                    name(task)
                )
            }
            Self::Expire(task) => write!(f, "the lease of {} expires", name(task)),
            Self::ExpireJournal(task) => {
                write!(f, "the lease of the journal of {} expires", name(task))
            }
            Self::Crash(node) => write!(f, "{node} dies"),
            _ => f.write_str("the store forgets what it did not keep"),
        }
    }
}

impl fmt::Display for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "runs here",
            Self::RunsAlready => "NOT RUN: a run of it is in the list",
            Self::NoRoom => "not run: the node is busy",
            Self::ReplyLost => "the reply is lost, not run",
        })
    }
}

impl fmt::Display for Updated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stored => "stored",
            Self::Conflict => "refused, its version has changed",
            Self::ReplyLost => "stored, but the reply is lost",
        })
    }
}
