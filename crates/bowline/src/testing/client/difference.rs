//! Comparison of one scenario across several revisions.

use std::fmt::Write as _;

use serde_json::Value;

use super::{CallOutcome, TestError};
use crate::proto::{
    Reason,
    jsonrpc::code,
    model::{Adapt as _, CallToolResult, WireFeatures},
    revision::{Era, Revision},
};

/// Describes the differences; `None` if there are none.
pub(super) fn describe_differences(outcomes: &[(Revision, CallOutcome)]) -> Option<String> {
    let (oldest, _) = outcomes.first()?;
    // Compare what the oldest revision can express.
    let features = &oldest.rules().features;
    let is_parallel = |(_, outcome): &(Revision, CallOutcome)| outcome.transcript().is_parallel();
    let in_order = !outcomes.iter().any(is_parallel);
    let mut groups: Vec<(Vec<Revision>, Summary)> = Vec::new();
    for (revision, outcome) in outcomes {
        let summary = Summary::new(outcome, features, in_order);
        match groups.iter_mut().find(|(_, other)| *other == summary) {
            Some((revisions, _)) => revisions.push(*revision),
            None => groups.push((vec![*revision], summary)),
        }
    }
    if groups.len() < 2 {
        return None;
    }
    let mut out = String::new();
    for (revisions, summary) in &groups {
        summary.write(revisions, &mut out);
    }
    Some(out)
}

/// The compared parts of an outcome.
#[derive(PartialEq)]
struct Summary {
    outcome: String,
    questions: Vec<AskedQuestion>,
}

/// One question: as displayed, and as compared.
#[derive(PartialEq)]
struct AskedQuestion {
    display: String,
    normalized: String,
}

impl Summary {
    fn new(outcome: &CallOutcome, features: &WireFeatures, in_order: bool) -> Self {
        let questions = outcome
            .transcript()
            .questions()
            .map(|question| AskedQuestion {
                display: question.to_string(),
                normalized: question.for_features(features).to_string(),
            });
        let mut questions: Vec<_> = questions.collect();
        if !in_order {
            questions.sort_by(|one, other| one.normalized.cmp(&other.normalized));
        }
        Self {
            outcome: describe_outcome(outcome, features),
            questions,
        }
    }

    fn write(&self, revisions: &[Revision], out: &mut String) {
        let labels = revisions.iter().map(|revision| match revision.era() {
            Era::Handshake => format!("{revision} (live)"),
            Era::Stateless => format!("{revision} (by replay)"),
        });
        let labels: Vec<_> = labels.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "on {}:", labels.join(", "));
        for question in &self.questions {
            let _ = writeln!(out, "  question {}", question.display);
            let _ = writeln!(out, "           {}", question.normalized);
        }
        let _ = writeln!(out, "  {}", self.outcome);
    }
}

/// Describes the outcome independently of the revision.
fn describe_outcome(outcome: &CallOutcome, features: &WireFeatures) -> String {
    let result = match (outcome.result(), outcome.error()) {
        (Some(result), _) => result,
        (None, Some(error)) => return describe_error(error, features),
        (None, None) => return String::new(),
    };
    if result.is_error() && result.all_text().starts_with("Error: Capability: ") {
        return MISSING_CAPABILITY.to_owned();
    }
    format!("result {}", without_protocol_fields(result, features))
}

const MISSING_CAPABILITY: &str = "the client lacks a capability";

fn describe_error(error: &TestError, features: &WireFeatures) -> String {
    let server_error = error.as_client().and_then(crate::Error::server_error);
    let Some(server_error) = server_error else {
        return format!("error {error:#}");
    };
    let lacks_capability = server_error
        .message
        .starts_with("The request requires the client capabilit");
    if lacks_capability || error.reason() == Some(Reason::CapabilityNotSupported) {
        return MISSING_CAPABILITY.to_owned();
    }
    // Older revisions do not report invalid arguments to the model.
    if server_error.code == code::INVALID_PARAMS
        && server_error.message.starts_with("Invalid arguments")
    {
        let result = CallToolResult::failure(&*server_error.message);
        return format!("result {}", without_protocol_fields(&result, features));
    }
    format!("error {server_error}")
}

/// Returns a result without its protocol fields.
fn without_protocol_fields(result: &CallToolResult, features: &WireFeatures) -> Value {
    let mut result = result.clone();
    result.adapt(features);
    result.meta = None;
    result.result_type = None;
    serde_json::to_value(&result).unwrap_or_default()
}
