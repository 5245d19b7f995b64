//! What is wrong with a value, in words for models and people.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::{Allowance, Validator};

/// How many faults are told at once.
const FAULTS_TOLD: usize = 5;

/// What is wrong with a value, as a list.
pub(crate) fn faults(validator: &Validator, value: &Value) -> Option<String> {
    faults_allowing(validator, value, &Allowance::default())
}

/// As [`faults`], for one of several values that came together.
pub(crate) fn faults_allowing(
    validator: &Validator,
    value: &Value,
    allowance: &Allowance,
) -> Option<String> {
    let mut text = String::new();
    let faults = validator.faults_allowing(value, allowance);
    for fault in faults.iter().take(FAULTS_TOLD) {
        let place = if fault.place.is_empty() {
            "/"
        } else {
            &fault.place
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- at {place}: {}", fault.message);
    }
    if faults.len() > FAULTS_TOLD {
        text.push_str("\n- and more");
    }
    (!text.is_empty()).then_some(text)
}
