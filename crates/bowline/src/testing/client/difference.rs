//! Whether one scenario went the same way in several revisions.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Outcome, TestError};
use crate::proto::{
    Reason,
    jsonrpc::code,
    model::{Adapt as _, CallToolResult, Dialect},
    revision::{Era, Revision},
};

/// What differs, for people; `None` where nothing does.
pub(super) fn between(outcomes: &[(Revision, Outcome)]) -> Option<String> {
    let (oldest, _) = outcomes.first()?;
    // What all of them can say is what the oldest can.
    let dialect = &oldest.rules().dialect;
    let together = |(_, outcome): &(Revision, Outcome)| outcome.transcript().is_parallel();
    let in_order = !outcomes.iter().any(together);
    let mut groups: Vec<(Vec<Revision>, Account)> = Vec::new();
    for (revision, outcome) in outcomes {
        let account = Account::of(outcome, dialect, in_order);
        match groups.iter_mut().find(|(_, other)| *other == account) {
            Some((revisions, _)) => revisions.push(*revision),
            None => groups.push((vec![*revision], account)),
        }
    }
    if groups.len() < 2 {
        return None;
    }
    let mut text = String::new();
    for (revisions, account) in &groups {
        account.write(revisions, &mut text);
    }
    Some(text)
}

/// What is compared.
#[derive(PartialEq)]
struct Account {
    ended: String,
    questions: Vec<Asked>,
}

/// One question: as it is shown, and as it is compared.
#[derive(PartialEq)]
struct Asked {
    shown: String,
    whole: String,
}

impl Account {
    fn of(outcome: &Outcome, dialect: &Dialect, in_order: bool) -> Self {
        let questions = outcome.transcript().questions().map(|question| Asked {
            shown: question.to_string(),
            whole: question.under(dialect).to_string(),
        });
        let mut questions: Vec<_> = questions.collect();
        if !in_order {
            questions.sort_by(|one, other| one.whole.cmp(&other.whole));
        }
        Self {
            ended: ended(outcome, dialect),
            questions,
        }
    }

    fn write(&self, revisions: &[Revision], text: &mut String) {
        let named = revisions.iter().map(|revision| match revision.era() {
            Era::Handshake => format!("{revision} (live)"),
            Era::Stateless => format!("{revision} (by replay)"),
        });
        let named: Vec<_> = named.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "on {}:", named.join(", "));
        for question in &self.questions {
            let _ = writeln!(text, "  question {}", question.shown);
            let _ = writeln!(text, "           {}", question.whole);
        }
        let _ = writeln!(text, "  {}", self.ended);
    }
}

/// How it ended, in words that do not depend on how a revision says it.
fn ended(outcome: &Outcome, dialect: &Dialect) -> String {
    let result = match (outcome.result(), outcome.error()) {
        (Some(result), _) => result,
        (None, Some(error)) => return failed(error, dialect),
        (None, None) => return String::new(),
    };
    if result.failed() && result.all_text().starts_with("Error: Capability: ") {
        return LACKING.to_owned();
    }
    format!("result {}", bare(result, dialect))
}

const LACKING: &str = "the client lacks a capability";

fn failed(error: &TestError, dialect: &Dialect) -> String {
    let refused = error.as_client().and_then(crate::Error::server_error);
    let Some(refused) = refused else {
        return format!("error {error}");
    };
    let lacking = refused
        .message
        .starts_with("The request needs the capabilit");
    if lacking || error.reason() == Some(Reason::CapabilityNotSupported) {
        return LACKING.to_owned();
    }
    // Older revisions do not let the model know of arguments that do not fit.
    if refused.code == code::INVALID_PARAMS && refused.message.starts_with("Invalid arguments") {
        let result = CallToolResult::failure(&*refused.message);
        return format!("result {}", bare(&result, dialect));
    }
    format!("error {refused}")
}

/// A result without what only the protocol needs.
fn bare(result: &CallToolResult, dialect: &Dialect) -> Value {
    let mut result = result.clone();
    result.adapt(dialect);
    result.meta = None;
    result.result_type = None;
    serde_json::to_value(&result).unwrap_or_default()
}
