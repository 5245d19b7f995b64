//! What kind of change a new version of a schema is.

use serde_json::Value;

/// How a schema is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// In.
    Input,
    /// Out.
    Output,
}

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// None.
    Identical,
    /// Text.
    TextOnly,
    /// Compatible.
    Compatible,
    /// Breaking.
    Breaking,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The kind.
    pub kind: ChangeKind,
    /// Where.
    pub pointer: String,
    /// What.
    pub message: String,
}

impl Difference {
    /// Makes one.
    #[must_use]
    pub fn new(kind: ChangeKind, pointer: &str, message: &str) -> Self {
        Self {
            kind,
            pointer: pointer.to_owned(),
            message: message.to_owned(),
        }
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison(Vec<Difference>);

impl Comparison {
    /// All.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.0
    }
}

/// Compares.
#[must_use]
pub fn compare(old: &Value, new: &Value, _usage: Usage) -> Comparison {
    Comparison(match old == new {
        true => Vec::new(),
        false => vec![Difference::new(ChangeKind::Breaking, "", "it changed")],
    })
}
