//! Validation errors, worded for models and people.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::{SharedBudget, Validator};

/// The maximum number of errors in one message.
const MAX_REPORTED: usize = 5;

/// Describes what is wrong with a value, as a list.
pub(crate) fn describe_errors(validator: &Validator, value: &Value) -> Option<String> {
    describe_errors_with_budget(validator, value, &SharedBudget::default())
}

/// Describes what is wrong with a value that came with others in a batch; see
/// [`describe_errors`].
pub(crate) fn describe_errors_with_budget(
    validator: &Validator,
    value: &Value,
    budget: &SharedBudget,
) -> Option<String> {
    let mut text = String::new();
    let faults = validator.errors_with_budget(value, budget);
    for fault in faults.iter().take(MAX_REPORTED) {
        let pointer = if fault.pointer.is_empty() {
            "/"
        } else {
            &fault.pointer
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- at {pointer}: {}", fault.message);
    }
    if faults.len() > MAX_REPORTED {
        text.push_str("\n- and more");
    }
    (!text.is_empty()).then_some(text)
}
