//! What is wrong with a value, in words for models and people.

use std::fmt::Write as _;

use jsonschema::Validator;
use serde_json::Value;

/// How many faults are told at once.
const FAULTS_TOLD: usize = 5;

/// What is wrong with a value, as a list.
pub(crate) fn faults(validator: &Validator, value: &Value) -> Option<String> {
    let mut text = String::new();
    let mut faults = validator.iter_errors(value);
    for fault in faults.by_ref().take(FAULTS_TOLD) {
        let place = fault.instance_path().to_string();
        let place = if place.is_empty() { "/" } else { &place };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- at {place}: {fault}");
    }
    if faults.next().is_some() {
        text.push_str("\n- and more");
    }
    (!text.is_empty()).then_some(text)
}
