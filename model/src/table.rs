//! Which promise holds under which assumption.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    thread,
};

use crate::{
    checker::Exploration,
    faults::Leases,
    models::{AnyModel, Bounds},
    node::Ownership,
    promise::{Promise, Promises},
};

/// What is assumed. The default is what the code relies on.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    /// How leases behave.
    pub leases: Leases,
    /// Whether messages to and from the store are lost.
    pub loses_messages: bool,
    /// Whether the store forgets its last writes.
    pub forgets: bool,
    /// Whether a position of a journal is written once.
    pub write_once: bool,
    /// Whether records of tasks are replaced by version, and sessions by token.
    pub fencing: bool,
    /// For whom a lease of a task is. If it is for one run, a refusal is for one question.
    pub task_leases: Ownership,
    /// Whether a node finds out if it has created a task whose creation was not
    /// confirmed.
    pub checks_creation: bool,
    /// With which token calls of a session write.
    pub session_tokens: Ownership,
    /// Whether services honour the keys of steps.
    pub honours_keys: bool,
    /// Whether results are written after effects.
    pub result_after_effect: bool,
    /// Whether calls of sessions are recorded before they run.
    pub records_calls: bool,
    /// Whether there is only one process, with a store in memory.
    pub one_process: bool,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            leases: Leases::Expire,
            loses_messages: true,
            forgets: false,
            write_once: true,
            fencing: true,
            task_leases: Ownership::Run,
            checks_creation: true,
            session_tokens: Ownership::Run,
            honours_keys: false,
            result_after_effect: true,
            records_calls: true,
            one_process: false,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What is assumed, in words.
    pub name: &'static str,
    /// What is assumed.
    pub assumptions: Assumptions,
}

/// Returns the rows of the table.
// tidy: long table, one row for each assumption
#[must_use]
pub fn rows() -> Vec<Row> {
    let row = |name, change: fn(&mut Assumptions)| {
        let mut assumptions = Assumptions::default();
        change(&mut assumptions);
        Row { name, assumptions }
    };
    vec![
        row("as in the code", |_| {}),
        row("… and services honour keys", |it| it.honours_keys = true),
        row("… and no message is lost", |it| it.loses_messages = false),
        row("… and no node stops for longer than its lease", |it| {
            it.leases = Leases::Respected;
        }),
        row("… and there are no leases of journals", |it| {
            it.leases = Leases::Absent;
        }),
        row("the store forgets its last writes", |it| it.forgets = true),
        row("positions are not written once", |it| it.write_once = false),
        row("positions are not written once, no node stops", |it| {
            it.write_once = false;
            it.leases = Leases::Respected;
        }),
        row("no versions, no tokens", |it| it.fencing = false),
        row("leases of tasks are for one process", |it| {
            it.task_leases = Ownership::Process;
        }),
        row("nobody checks whether a task was created", |it| {
            it.checks_creation = false;
        }),
        row("calls write with the latest token of their node", |it| {
            it.session_tokens = Ownership::Process;
        }),
        row("calls of sessions are not recorded", |it| {
            it.records_calls = false;
        }),
        row("results are written before effects", |it| {
            it.result_after_effect = false;
        }),
        row("one process, store in memory", |it| {
            it.one_process = true;
            it.loses_messages = false;
        }),
        row(
            "one process, store in memory, leases for the process",
            |it| {
                it.task_leases = Ownership::Process;
                it.one_process = true;
                it.loses_messages = false;
            },
        ),
    ]
}

/// What the checker found, for every row.
pub struct Table {
    rows: Vec<(Row, Vec<String>)>,
    /// By the name of the model.
    explorations: BTreeMap<String, (AnyModel, Exploration)>,
}

impl Table {
    /// Explores every model that a row needs, each once.
    #[must_use]
    pub fn compute(bounds: Bounds) -> Self {
        let mut models = BTreeMap::new();
        let mut needed = Vec::new();
        for row in rows() {
            let of_row = AnyModel::all(&row.assumptions, bounds);
            let keys: Vec<String> = of_row.iter().map(|it| format!("{it:?}")).collect();
            models.extend(keys.iter().cloned().zip(of_row));
            needed.push((row, keys));
        }
        let waiting = Mutex::new(models);
        let explorations = Mutex::new(BTreeMap::new());
        let take = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.pop_first()
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((key, model)) = take() {
                        let explored = model.explore();
                        let mut all = explorations.lock().unwrap_or_else(PoisonError::into_inner);
                        all.insert(key, (model, explored));
                    }
                });
            }
        });
        Self {
            rows: needed,
            explorations: explorations
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Iterates over the models and what was found in each.
    pub fn explorations(&self) -> impl Iterator<Item = (&AnyModel, &Exploration)> {
        self.explorations.values().map(|(model, it)| (model, it))
    }

    /// Returns the number of states of all models.
    #[must_use]
    pub fn states(&self) -> usize {
        self.explorations().map(|(_, it)| it.states).sum()
    }

    /// Returns the promises that are broken under the assumptions of a row.
    #[must_use]
    pub fn broken(&self, row: &str) -> Promises {
        let mut broken = Promises::default();
        for exploration in self.of_row(row) {
            exploration.broken().iter().for_each(|it| broken.insert(it));
        }
        broken
    }

    /// Returns the shortest way to break a promise under the assumptions of a row.
    #[must_use]
    pub fn counterexample<'a>(&'a self, row: &'a str, promise: Promise) -> Option<&'a [String]> {
        let found = self.of_row(row).filter_map(|it| it.counterexample(promise));
        found.min_by_key(|steps| steps.len())
    }

    /// Returns whether a model of this row could break a promise.
    fn is_examined(&self, row: &Row, promise: Promise) -> bool {
        let of_row = self.rows.iter().filter(|(it, _)| it.name == row.name);
        let mut models = of_row.flat_map(|(_, keys)| keys);
        models.any(|key| {
            let model = self.explorations.get(key).map(|(model, _)| model);
            model.is_some_and(|it| it.examines(promise, &row.assumptions))
        })
    }

    fn of_row<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Exploration> {
        let rows = self.rows.iter().filter(move |(row, _)| row.name == name);
        let keys = rows.flat_map(|(_, keys)| keys);
        keys.filter_map(|key| Some(&self.explorations.get(key)?.1))
    }

    /// Returns the table as Markdown: a row for each assumption, a column for each
    /// promise.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = String::from("| Assumed |");
        for promise in Promise::ALL {
            let _ = write!(text, " {promise} |");
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(Promise::ALL.len()));
        text.push('\n');
        for (row, _) in &self.rows {
            let _ = write!(text, "| {} |", row.name);
            let broken = self.broken(row.name);
            for promise in Promise::ALL {
                let cell = match broken.contains(promise) {
                    true => "**no**",
                    false if self.is_examined(row, promise) => "yes",
                    false => "·",
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
        text
    }
}
