//! Limiting how much of a schema is visited.
//!
//! A schema of a few lines can be recursive in many ways at once, so its
//! expansion is infinite. The number of visited subschemas is limited, not the
//! depth: honest schemas may be deep.

use std::cell::Cell;

use super::Schema;

/// Maximum number of subschemas visited for one purpose, such as a signature.
const MAX_SUBSCHEMAS: usize = 20_000;
/// How many members or characters cost as much as one subschema.
const MEMBERS_PER_SUBSCHEMA: usize = 16;

/// What may still be visited.
#[derive(Debug)]
pub(crate) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_SUBSCHEMAS)
    }
}

impl Budget {
    /// Creates a budget for this many subschemas.
    pub(crate) fn new(subschemas: usize) -> Self {
        Self(Cell::new(subschemas))
    }

    /// Spends the cost of visiting a schema. Returns false if the budget is
    /// exhausted.
    pub(crate) fn spend_on(&self, schema: Schema<'_>) -> bool {
        self.spend(schema.size())
    }

    /// Spends the cost of this many members or characters. Returns false if the
    /// budget is exhausted, then and from then on.
    pub(crate) fn spend(&self, members: usize) -> bool {
        let remaining = self
            .0
            .get()
            .checked_sub(1 + members / MEMBERS_PER_SUBSCHEMA);
        self.0.set(remaining.unwrap_or_default());
        remaining.is_some()
    }
}
