//! Limiting how much is printed.
//!
//! A schema of a few lines can be recursive in many ways at once, so its expansion is
//! infinite. The number of types is limited, not only the depth: honest schemas may be
//! deep.

use std::cell::Cell;

/// The maximum number of types printed, unless told otherwise.
const MAX_TYPES: usize = 20_000;
/// How many characters cost as much as one type.
const CHARS_PER_TYPE: usize = 16;

/// How much may still be printed, by one or several printers.
#[derive(Clone, Debug)]
pub struct PrintBudget(Cell<usize>);

impl Default for PrintBudget {
    fn default() -> Self {
        Self::new(MAX_TYPES)
    }
}

impl PrintBudget {
    /// Creates a budget for this many types. Long names and values count as several.
    #[must_use]
    pub fn new(types: usize) -> Self {
        Self(Cell::new(types))
    }

    /// Returns how many types may still be printed.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.0.get()
    }

    /// Spends the cost of this many types, for other work that is shared. Returns
    /// false if the budget is exhausted, then and from then on.
    pub fn spend(&self, types: usize) -> bool {
        let remaining = self.0.get().checked_sub(types);
        self.0.set(remaining.unwrap_or_default());
        remaining.is_some()
    }

    /// Spends the cost of a text.
    pub(super) fn spend_text(&self, text: &str) -> bool {
        self.spend(1 + text.len() / CHARS_PER_TYPE)
    }
}
