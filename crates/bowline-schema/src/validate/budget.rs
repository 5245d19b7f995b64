//! The budget of work for checking a value.
//!
//! A check cannot be interrupted, so it must end soon whatever the value. Most checks
//! are linear in the size of the value. Schemas that apply many schemas to the same
//! value multiply that, some of them exponentially; the budget ends these too.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::Value;

/// The maximum number of steps of one check. A step is one keyword on one
/// value, or a few bytes that are compared: some nanoseconds each. Two million
/// numbers with bounds, the most that the default limit on bodies lets in, are
/// eight million steps.
pub(super) const MAX_STEPS: u64 = 16_000_000;

/// How deep a check goes. JSON is 128 levels deep at most, as far as `serde_json`
/// reads it, and there may be several schemas for a level. A check that would go
/// deeper ends as one that exceeds its budget, before the stack does.
pub(super) const MAX_DEPTH: u32 = 512;

/// The number of bytes of a string that count as one step if they are only
/// compared.
const BYTES_PER_STEP: usize = 32;

/// The maximum number of steps of all checks with one budget: one check for
/// whether a value is valid, and another to report why not.
const MAX_STEPS_TOGETHER: u64 = 2 * MAX_STEPS;

/// The work that checks may take together.
///
/// The default suffices for any value of a few megabytes, once to check it and
/// once to report why it is not valid. Use one budget for all values that arrive
/// together: each has what those before it left, so a batch is never more work
/// than the largest single value.
#[derive(Debug)]
pub struct Budget(AtomicU64);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU64::new(MAX_STEPS_TOGETHER))
    }
}

impl Budget {
    /// Runs a check with the remaining steps, up to the maximum of one check.
    pub(super) fn spend_on<T>(&self, check: impl FnOnce(&CheckBudget) -> T) -> T {
        let left = self.0.load(Ordering::Relaxed);
        let budget = CheckBudget::new(left.min(MAX_STEPS));
        let result = check(&budget);
        let used = left.min(MAX_STEPS) - budget.remaining();
        // Values that arrive together are checked one after the other.
        self.0.store(left - used, Ordering::Relaxed);
        result
    }
}

/// The remaining steps of one check.
#[derive(Debug)]
pub(super) struct CheckBudget {
    /// One more than there are steps left, or 0 once there were too few.
    left: Cell<u64>,
}

impl CheckBudget {
    pub(super) fn new(steps: u64) -> Self {
        Self {
            left: Cell::new(steps + 1),
        }
    }

    /// Spends steps and returns whether there were enough. Once there are too
    /// few, none are left.
    #[inline]
    pub(super) fn spend(&self, steps: u64) -> bool {
        let left = self.left.get();
        let is_enough = steps < left;
        self.left.set(if is_enough { left - steps } else { 0 });
        is_enough
    }

    /// Spends all steps that are left, and more.
    pub(super) fn exhaust(&self) {
        self.left.set(0);
    }

    /// Returns whether there were too few steps.
    #[inline]
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the number of steps left.
    pub(super) fn remaining(&self) -> u64 {
        self.left.get().saturating_sub(1)
    }
}

/// Returns the number of steps to read all of a value. A value that is too deep to
/// be read recursively takes more than there are.
#[inline]
pub(super) fn value_cost(value: &Value) -> u64 {
    match value {
        Value::String(text) => string_cost(text),
        _ => cost_within(MAX_DEPTH, value),
    }
}

fn cost_within(levels: u32, value: &Value) -> u64 {
    let inner_cost = |value: &Value| match levels.checked_sub(1) {
        Some(levels) => cost_within(levels, value),
        None => MAX_STEPS_TOGETHER,
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => string_cost(text),
        Value::Array(items) => 1 + items.iter().map(inner_cost).sum::<u64>(),
        Value::Object(members) => {
            let names = members.keys().map(|name| string_cost(name)).sum::<u64>();
            // Objects that may be equal are sorted by their names, each of
            // which is compared with some others.
            let comparisons = u64::from(usize::BITS - members.len().leading_zeros());
            1 + names * (1 + comparisons) + members.values().map(inner_cost).sum::<u64>()
        }
    }
}

/// Returns the number of steps to read all of a string.
#[inline]
pub(super) fn string_cost(text: &str) -> u64 {
    1 + (text.len() / BYTES_PER_STEP) as u64
}
