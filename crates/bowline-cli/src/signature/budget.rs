//! How much of a schema is looked at.
//!
//! A schema of a few lines can lead back into itself in many ways at once, so
//! that what it says in full has no end. What is looked at is counted, and not
//! how deep it lies: honest schemas may be deep.

use std::cell::Cell;

use super::Schema;

/// How many parts of schemas are looked at for one thing, such as a signature.
const MAX_SUBSCHEMAS: usize = 20_000;
/// How many members or letters are as much work as one part.
const MEMBERS_PER_SUBSCHEMA: usize = 16;

/// What may still be looked at.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_SUBSCHEMAS)
    }
}

impl Budget {
    /// Enough for so many parts.
    pub(crate) fn new(subschemas: usize) -> Self {
        Self(Cell::new(subschemas))
    }

    /// Takes what it costs to look at a schema. False if there is not enough.
    pub(crate) fn spend_on(&self, schema: Schema<'_>) -> bool {
        self.spend(schema.size())
    }

    /// Takes what so many members, or letters, cost. False if there is not
    /// enough, from then on.
    pub(crate) fn spend(&self, members: usize) -> bool {
        let remaining = self
            .0
            .get()
            .checked_sub(1 + members / MEMBERS_PER_SUBSCHEMA);
        self.0.set(remaining.unwrap_or_default());
        remaining.is_some()
    }

    /// Whether nothing is left.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }
}
