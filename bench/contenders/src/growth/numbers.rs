//! Numbers on the command line, and numbers that are printed.

use crate::Failure;

/// A number.
pub(crate) fn number(text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

/// Prints what was measured, as the harness reads it.
pub(crate) fn report(measured: &[(String, f64)]) {
    let line: serde_json::Map<String, serde_json::Value> = measured
        .iter()
        .map(|(name, value)| (name.clone(), (*value).into()))
        .collect();
    println!("{}", serde_json::Value::Object(line));
}
