//! The result of a comparison.

use std::fmt;

/// How a schema is used, which decides in which direction it may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Usage {
    /// Callers made values for the old schema, and send them to a program with the new
    /// one: what was valid must stay valid.
    Input,
    /// A program with the new schema sends values to those who know the old one: what
    /// is valid now must have been valid before.
    Output,
}

/// What kind of change a new version of a schema is. A later variant is a worse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// None: both are the same JSON, apart from the order of members, the order of
    /// `required`, `enum` and `type`, and the spelling of numbers.
    Identical,
    /// The same values are valid, and programs have nothing new to act on.
    TextOnly,
    /// Values that worked before still do.
    Compatible,
    /// Values that worked before may no longer do.
    Breaking,
}

/// One of the two versions of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The one before the change.
    Old,
    /// The one after it.
    New,
}

/// One difference between two versions of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What kind of change it is on its own.
    pub kind: ChangeKind,
    /// The version that the pointer leads into: the old one for what was removed.
    pub version: Version,
    /// Where it is in that schema, as a JSON Pointer. What a reference names is where
    /// its definition is.
    pub pointer: String,
    /// What changed, in one sentence for people.
    pub message: String,
}

/// What is different between two versions of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub(super) kind: ChangeKind,
    pub(super) differences: Vec<Difference>,
    pub(super) omitted: usize,
}

impl Comparison {
    /// Returns the kind of the change as a whole: the worst of all differences.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        self.kind
    }

    /// Returns the differences, in the order of the schema: those of a value before
    /// those of its members, members as the new version lists them, then those that
    /// only the old version has.
    ///
    /// Up to 100 are listed, the worst ones if there are more.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Returns how many more differences were found than are listed.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identical => "identical",
            Self::TextOnly => "text only",
            Self::Compatible => "compatible",
            Self::Breaking => "breaking",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = match self.pointer.as_str() {
            "" => "/",
            pointer => pointer,
        };
        write!(f, "{} at {pointer}: {}", self.kind, self.message)
    }
}
