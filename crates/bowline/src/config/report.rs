//! Collecting the problems of one part of a configuration.

use super::{Position, Problem, ProblemKind, Severity};

/// The problems of a part of a configuration, with their common context.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) server: Option<String>,
    pub(super) position: Option<Position>,
    pub(super) problems: Vec<Problem>,
}

impl Report {
    pub(super) fn add(&mut self, path: &str, kind: ProblemKind) {
        self.problems.push(Problem {
            server: self.server.clone(),
            path: path.to_owned(),
            position: self.position,
            kind,
        });
    }

    /// Reports a value of the right type that is not valid.
    pub(super) fn invalid_value(&mut self, path: &str, reason: impl Into<String>) {
        self.add(path, ProblemKind::InvalidValue(reason.into()));
    }

    /// Returns whether a problem makes this part unusable.
    pub(super) fn is_fatal(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.severity() == Severity::Error)
    }
}

/// Returns the path of a member: `a.b`, or `a["b c"]` if the key is not a plain
/// identifier.
pub(super) fn member_path(path: &str, key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match (path, !key.is_empty() && key.chars().all(is_plain)) {
        ("", true) => key.to_owned(),
        (_, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{key:?}]"),
    }
}
