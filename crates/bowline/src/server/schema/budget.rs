//! How much work one look at a value may be.
//!
//! A check runs where the request was read and cannot be interrupted, so that
//! whatever a caller sends must be done with soon. Most checks are linear in
//! the size of the value. Schemas that hold the same value against many others
//! multiply that, some of them exponentially; the budget ends these, too.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::Value;

/// How many steps one look at a value may take. A step is one demand on one
/// value, or a few bytes that are compared: some nanoseconds each. Two million
/// numbers with bounds, the most that the default limit on bodies lets in,
/// are eight million steps.
pub(super) const MAX_STEPS: u64 = 16_000_000;

/// So many bytes of a text count as one step where they are only compared.
const BYTES_PER_STEP: usize = 32;

/// How many steps may be taken for all that came in one frame: one look to see
/// whether it fits, and another to say why not.
const MAX_STEPS_PER_FRAME: u64 = 2 * MAX_STEPS;

/// What is left for the requests that came in one frame. Where there are many,
/// each may have what those before it left: a batch must not be more work than
/// the largest request that comes alone.
#[derive(Debug)]
pub(crate) struct SharedBudget(AtomicU64);

impl Default for SharedBudget {
    fn default() -> Self {
        Self(AtomicU64::new(MAX_STEPS_PER_FRAME))
    }
}

impl SharedBudget {
    /// Looks at a value with what is left, and no more than one look may take.
    pub(super) fn with_budget<T>(&self, check: impl FnOnce(&CheckBudget) -> T) -> T {
        let left = self.0.load(Ordering::Relaxed);
        let budget = CheckBudget::new(left.min(MAX_STEPS));
        let result = check(&budget);
        let used = left.min(MAX_STEPS) - budget.remaining();
        // The requests of a frame are looked at one after the other.
        self.0.store(left - used, Ordering::Relaxed);
        result
    }
}

/// What is left of the steps.
#[derive(Debug)]
pub(super) struct CheckBudget {
    remaining: Cell<u64>,
    exhausted: Cell<bool>,
}

impl CheckBudget {
    pub(super) fn new(steps: u64) -> Self {
        Self {
            remaining: Cell::new(steps),
            exhausted: Cell::new(false),
        }
    }

    /// Takes steps. There are none left from the first time on that there were
    /// too few.
    pub(super) fn spend(&self, steps: u64) -> bool {
        match self.remaining.get().checked_sub(steps) {
            Some(left) => self.remaining.set(left),
            None => {
                self.remaining.set(0);
                self.exhausted.set(true);
            }
        }
        !self.exhausted.get()
    }

    /// Whether there were too few.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// How many steps are left.
    pub(super) fn remaining(&self) -> u64 {
        self.remaining.get()
    }
}

/// How many steps it takes to look at all of a value.
pub(super) fn value_cost(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => string_cost(text),
        Value::Array(items) => 1 + items.iter().map(value_cost).sum::<u64>(),
        Value::Object(members) => {
            let names = members.keys().map(|name| string_cost(name)).sum::<u64>();
            // Objects that may be the same are sorted by their names, each of
            // which is compared with some others.
            let comparisons = u64::from(usize::BITS - members.len().leading_zeros());
            1 + names * (1 + comparisons) + members.values().map(value_cost).sum::<u64>()
        }
    }
}

/// How many steps it takes to look at all of a text.
pub(super) fn string_cost(text: &str) -> u64 {
    1 + (text.len() / BYTES_PER_STEP) as u64
}
