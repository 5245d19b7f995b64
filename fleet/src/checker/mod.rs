//! Judges what happened, from the log of effects and what clients were told.
//!
//! It knows nothing of nodes, faults and time. What it requires:
//!
//! - every call ended once;
//! - a step happens once in a course, whatever is repeated;
//! - there are no more courses than requests that may have begun one, so a call of which
//!   the server says that it did not run it did not run;
//! - steps after a question happen once in a call, in one course, and with one set of
//!   answers: those after the first question are also those before the second;
//! - what was reported has happened, in this call and in one course, and what was reported
//!   as not having happened has not;
//! - everyone who was told how a call ended was told the same.

mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

pub use self::table::Table;
use crate::{
    effects::{Effect, LogLine},
    outcome::{End, Outcome, Report},
};

/// What is judged.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The effects, in the order in which they happened.
    pub log: &'a [LogLine],
    /// The calls that clients were to make.
    pub planned: &'a [String],
    /// How they ended.
    pub outcomes: &'a [Outcome],
    /// Whether the store may not lose anything, so no task may be lost either.
    pub is_durable: bool,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The call.
    pub conversation: String,
    /// What is wrong.
    pub message: String,
    /// The effects and outcomes that show it.
    pub lines: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.conversation, self.message)?;
        self.lines
            .iter()
            .try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// The effects of one call.
type Effects<'a> = Vec<(u64, &'a Effect)>;

/// Returns everything that is wrong.
#[must_use]
pub fn check(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut effects: HashMap<&str, Effects<'_>> = HashMap::new();
    for line in evidence.log {
        if let LogLine::Happened { id, effect } = line {
            let of_call = effects.entry(&effect.conversation).or_default();
            of_call.push((*id, effect));
        }
    }
    let mut violations = check_outcomes_are_one_each(evidence);
    for outcome in evidence.outcomes {
        let of_call = effects.remove(&*outcome.conversation).unwrap_or_default();
        let judge = Judge {
            outcome,
            effects: of_call,
        };
        violations.extend(judge.violations(evidence.is_durable));
    }
    for (conversation, of_call) in effects {
        violations.push(Violation {
            conversation: conversation.to_owned(),
            message: "nobody knows of this call, but it had effects".to_owned(),
            lines: of_call.iter().map(|it| format!("{it:?}")).collect(),
        });
    }
    violations.sort_by(|a, b| a.conversation.cmp(&b.conversation));
    violations
}

fn check_outcomes_are_one_each(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut ends: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for name in evidence.planned {
        ends.entry(name).or_default();
    }
    for outcome in evidence.outcomes {
        let of_call = ends.entry(&outcome.conversation).or_default();
        of_call.push(format!("{outcome:?}"));
    }
    let wrong = ends.into_iter().filter(|(_, ends)| ends.len() != 1);
    wrong
        .map(|(name, ends)| Violation {
            conversation: name.to_owned(),
            message: format!("it has {} outcomes instead of one", ends.len()),
            lines: ends,
        })
        .collect()
}

/// One call.
struct Judge<'a> {
    outcome: &'a Outcome,
    effects: Effects<'a>,
}

impl Judge<'_> {
    fn violations(&self, is_durable: bool) -> Vec<Violation> {
        let mut messages = Vec::new();
        self.check_end(is_durable, &mut messages);
        self.check_courses(&mut messages);
        self.check_answers(&mut messages);
        for report in self.reports() {
            self.check_report(report, &mut messages);
        }
        let violation = |message| Violation {
            conversation: self.outcome.conversation.clone(),
            message,
            lines: self.lines(),
        };
        messages.into_iter().map(violation).collect()
    }

    fn lines(&self) -> Vec<String> {
        let effects = self.effects.iter().map(|it| format!("{it:?}"));
        effects.chain([format!("{:?}", self.outcome)]).collect()
    }

    /// Everything that anyone was told.
    fn reports(&self) -> impl Iterator<Item = &Report> {
        let own = match &self.outcome.end {
            End::Reported(report) => Some(report),
            _ => None,
        };
        own.into_iter().chain(&self.outcome.also_reported)
    }

    fn check_end(&self, is_durable: bool, messages: &mut Vec<String>) {
        match &self.outcome.end {
            End::Stuck(why) => messages.push(format!("it did not end: {why}")),
            End::LostTask if is_durable => {
                messages.push("the task was lost, although the store keeps everything".to_owned());
            }
            _ => {}
        }
        let different: BTreeSet<String> = self.reports().map(|it| format!("{it:?}")).collect();
        if different.len() > 1 {
            messages.push("it was reported to have ended in different ways".to_owned());
        }
    }

    fn check_courses(&self, messages: &mut Vec<String>) {
        let courses: BTreeSet<&str> = self.effects.iter().map(|it| &*it.1.course).collect();
        let beginnings = self.outcome.beginnings as usize;
        if courses.len() > beginnings {
            let count = courses.len();
            messages.push(format!("{beginnings} requests began {count} courses"));
        }
        let mut in_course: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut in_call: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, effect) in &self.effects {
            *in_course.entry((&effect.course, &effect.step)).or_default() += 1;
            if !effect.answers.is_empty() {
                *in_call.entry(&effect.step).or_default() += 1;
            }
        }
        for ((_, step), count) in in_course {
            if count > 1 {
                messages.push(format!("step {step} happened {count} times in one course"));
            }
        }
        for (step, count) in in_call {
            if count > 1 {
                messages.push(format!("step {step} happened {count} times"));
            }
        }
    }

    /// The answers of each effect must be the beginning of those of every later one.
    fn check_answers(&self, messages: &mut Vec<String>) {
        let answered = self.effects.iter().filter(|it| !it.1.answers.is_empty());
        let mut answered: Vec<&Effect> = answered.map(|it| it.1).collect();
        answered.sort_by_key(|effect| effect.answers.len());
        for pair in answered.windows(2) {
            if !pair[1].answers.starts_with(&pair[0].answers) {
                messages.push("effects of different answers happened".to_owned());
            }
            if pair[0].course != pair[1].course {
                messages.push("steps after a question happened in different courses".to_owned());
            }
        }
    }

    fn check_report(&self, report: &Report, messages: &mut Vec<String>) {
        let mut courses = BTreeSet::new();
        for (step, reported) in &report.effects {
            let found = self.effects.iter().find(|(id, _)| id == reported);
            match found.filter(|(_, effect)| effect.step == *step) {
                Some((_, effect)) => {
                    courses.insert(&effect.course);
                }
                None => messages.push(format!(
                    "effect {reported} of step {step} was reported and did not happen"
                )),
            }
        }
        if courses.len() > 1 {
            messages.push("one report names effects of several courses".to_owned());
        }
        for step in &report.void {
            let happened = self.effects.iter().any(|(_, effect)| {
                effect.step == *step && courses.iter().all(|course| **course == effect.course)
            });
            if happened {
                messages.push(format!("step {step} was reported as not done and happened"));
            }
        }
        let is_empty = report.void.is_empty() && report.unknown.is_empty();
        if is_empty && report.effects.is_empty() {
            messages.push("nothing was reported".to_owned());
        }
    }
}
