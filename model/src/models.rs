//! The models that the checker explores under an assumption, and their sizes.

use std::fmt;

use crate::{
    checker::{Exploration, explore},
    conversation::Conversations,
    faults::{Budget, Leases},
    journal::JournalRules,
    node::{NODES, Ownership},
    promise::Promise,
    round::Script,
    session::Sessions,
    table::Assumptions,
    task::Tasks,
};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Half a minute: for tests.
    Small,
    /// Two minutes.
    Large,
}

/// One of the models.
#[derive(Clone, Copy, Debug)]
pub enum AnyModel {
    /// Conversations whose states clients hold.
    Conversations(Conversations),
    /// Tasks.
    Tasks(Tasks),
    /// Sessions.
    Sessions(Sessions),
}

impl AnyModel {
    /// Returns the models for an assumption.
    #[must_use]
    pub fn all(assumptions: &Assumptions, bounds: Bounds) -> Vec<Self> {
        let conversations = assumptions.conversations(bounds).into_iter();
        let tasks = assumptions.tasks(bounds).into_iter();
        let sessions = assumptions.sessions(bounds).into_iter();
        let models = conversations.map(Self::Conversations);
        let models = models.chain(tasks.map(Self::Tasks));
        models.chain(sessions.map(Self::Sessions)).collect()
    }

    /// Visits all its states.
    #[must_use]
    pub fn explore(&self) -> Exploration {
        match self {
            Self::Conversations(model) => explore(model),
            Self::Tasks(model) => explore(model),
            Self::Sessions(model) => explore(model),
        }
    }
}

impl AnyModel {
    /// Returns whether the model could break a promise under these assumptions.
    #[must_use]
    pub fn examines(&self, promise: Promise, assumptions: &Assumptions) -> bool {
        use Promise::{
            AnswerKept, ErrorIsFinal, OneCourse, OneOwner, OutcomeStands, RecoveryStands,
        };
        match self {
            Self::Conversations(it) => match promise {
                OneOwner | AnswerKept | ErrorIsFinal => false,
                RecoveryStands => it.script.recovers,
                _ => true,
            },
            Self::Tasks(it) => match promise {
                OneOwner | RecoveryStands => false,
                ErrorIsFinal => it.faults.lost_messages > 0 || !assumptions.loses_messages,
                _ => true,
            },
            Self::Sessions(_) => !matches!(
                promise,
                OneCourse | OutcomeStands | AnswerKept | ErrorIsFinal | RecoveryStands
            ),
        }
    }
}

/// Shows the size of the model.
impl fmt::Display for AnyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, nodes, faults) = match self {
            Self::Conversations(it) => {
                let rounds = it.script.steps.len();
                (
                    format!("conversations: {}, rounds: {rounds}", it.count),
                    it.nodes,
                    it.faults,
                )
            }
            Self::Tasks(it) => (format!("tasks: {}", it.count), it.nodes, it.faults),
            Self::Sessions(it) => (
                format!("sessions: {}, calls: {}", it.count, it.calls),
                it.nodes,
                it.faults,
            ),
        };
        let (crashes, lost) = (faults.crashes, faults.lost_messages);
        write!(
            f,
            "{what}, nodes: {nodes}, crashes: {crashes}, lost messages: {lost}"
        )
    }
}

impl Assumptions {
    /// Returns the number of faults, fewer if none are lost.
    fn faults(&self, crashes: u8, lost_messages: u8) -> Budget {
        let lost_messages = if self.loses_messages {
            lost_messages
        } else {
            0
        };
        Budget {
            crashes,
            lost_messages,
        }
    }

    /// Whether what is written may be overwritten, which leads to many more states.
    fn is_unbounded(&self) -> bool {
        self.forgets || !self.write_once
    }

    fn script(&self, steps: &'static [bool], recovers: bool) -> Script {
        Script {
            steps,
            recovers,
            honours_keys: self.honours_keys && recovers,
            result_after_effect: self.result_after_effect,
            journal: JournalRules {
                write_once: self.write_once,
                has_leases: self.leases != Leases::Absent,
            },
        }
    }

    fn conversations(&self, bounds: Bounds) -> Vec<Conversations> {
        let model = |count, script, faults| Conversations {
            script,
            count,
            nodes: NODES,
            leases: self.leases,
            faults,
            forgets: self.forgets,
        };
        let (once, twice) = (&[true][..], &[true, true][..]);
        match bounds {
            _ if self.one_process => Vec::new(),
            _ if self.is_unbounded() => {
                vec![model(1, self.script(once, false), self.faults(1, 0))]
            }
            Bounds::Small => vec![
                model(2, self.script(once, false), self.faults(1, 0)),
                model(1, self.script(twice, true), self.faults(1, 0)),
                model(1, self.script(once, true), self.faults(1, 1)),
            ],
            Bounds::Large => vec![
                model(2, self.script(once, false), self.faults(1, 1)),
                model(1, self.script(twice, true), self.faults(1, 1)),
            ],
        }
    }

    fn tasks(&self, bounds: Bounds) -> Vec<Tasks> {
        let mut script = self.script(&[false, true], false);
        script.result_after_effect = true;
        let model = |count, nodes, faults, has_cancellation| Tasks {
            script,
            count,
            nodes,
            // Without leases of journals, too, tasks have some.
            leases: match self.leases {
                Leases::Respected => Leases::Respected,
                Leases::Expire | Leases::Absent => Leases::Expire,
            },
            faults,
            forgets: self.forgets,
            has_versions: self.fencing,
            has_takeovers: !self.one_process,
            has_cancellation,
            ownership: self.task_leases,
            checks_refusals: self.task_leases == Ownership::Run,
            checks_creation: self.checks_creation,
        };
        let none = Budget::default();
        let is_unbounded = self.is_unbounded() || !self.fencing;
        match bounds {
            _ if self.one_process => vec![model(1, 1, none, true)],
            _ if is_unbounded => vec![model(1, 2, none, false)],
            Bounds::Small if self.task_leases == Ownership::Process => vec![
                model(1, 2, self.faults(0, 1), true),
                model(1, 2, self.faults(1, 0), true),
            ],
            Bounds::Small => vec![
                model(2, 2, none, false),
                model(1, 3, self.faults(1, 0), false),
                model(1, 2, self.faults(0, 1), true),
            ],
            Bounds::Large if self.task_leases == Ownership::Process => vec![
                model(1, 3, none, false),
                model(1, 2, self.faults(0, 1), true),
            ],
            Bounds::Large => vec![
                model(2, 2, none, false),
                model(1, 3, self.faults(1, 1), false),
                model(1, 2, self.faults(1, 1), true),
            ],
        }
    }

    fn sessions(&self, bounds: Bounds) -> Vec<Sessions> {
        let model = |count, calls, nodes, faults| Sessions {
            count,
            calls,
            nodes,
            leases: match self.leases {
                Leases::Respected => Leases::Respected,
                // Sessions have leases in any case.
                _ => Leases::Expire,
            },
            faults,
            forgets: self.forgets,
            has_fencing: self.fencing,
            ownership: self.session_tokens,
            records_calls: self.records_calls,
        };
        match bounds {
            _ if self.one_process => Vec::new(),
            _ if self.is_unbounded() => vec![model(1, 1, NODES, self.faults(1, 0))],
            Bounds::Small => vec![
                model(2, 1, 2, Budget::default()),
                model(1, 2, NODES, self.faults(1, 0)),
                model(1, 1, NODES, self.faults(1, 1)),
            ],
            Bounds::Large => vec![
                model(2, 1, 2, Budget::default()),
                model(1, 2, NODES, self.faults(1, 1)),
            ],
        }
    }
}
