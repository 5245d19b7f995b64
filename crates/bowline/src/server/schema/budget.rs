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
pub(crate) struct Allowance(AtomicU64);

impl Default for Allowance {
    fn default() -> Self {
        Self(AtomicU64::new(MAX_STEPS_PER_FRAME))
    }
}

impl Allowance {
    /// Looks at a value with what is left, and no more than one look may take.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Budget) -> T) -> T {
        let left = self.0.load(Ordering::Relaxed);
        let budget = Budget::of(left.min(MAX_STEPS));
        let seen = look(&budget);
        let taken = left.min(MAX_STEPS) - budget.left();
        // The requests of a frame are looked at one after the other.
        self.0.store(left - taken, Ordering::Relaxed);
        seen
    }
}

/// What is left of the steps.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u64>,
    spent: Cell<bool>,
}

impl Budget {
    pub(super) fn of(steps: u64) -> Self {
        Self {
            left: Cell::new(steps),
            spent: Cell::new(false),
        }
    }

    /// Takes steps. There are none left from the first time on that there were
    /// too few.
    pub(super) fn take(&self, steps: u64) -> bool {
        match self.left.get().checked_sub(steps) {
            Some(left) => self.left.set(left),
            None => {
                self.left.set(0);
                self.spent.set(true);
            }
        }
        !self.spent.get()
    }

    /// Whether there were too few.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }
}

/// How many steps it takes to look at all of a value.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text_weight(text),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Object(members) => {
            let names = members.keys().map(|name| text_weight(name)).sum::<u64>();
            // Objects that may be the same are sorted by their names, each of
            // which is compared with some others.
            let compared = u64::from(usize::BITS - members.len().leading_zeros());
            1 + names * (1 + compared) + members.values().map(weight).sum::<u64>()
        }
    }
}

/// How many steps it takes to look at all of a text.
pub(super) fn text_weight(text: &str) -> u64 {
    1 + (text.len() / BYTES_PER_STEP) as u64
}
