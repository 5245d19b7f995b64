//! Values as readable JSON on one line.

use std::fmt::{self, Write as _};

use serde_json::Value;

/// How deep a value is printed.
const MAX_DEPTH: usize = 128;

/// Returns a value as JSON on one line, with a space after each comma and colon.
///
/// ```
/// use bowline_schema::print::signature::json_expression;
/// use serde_json::json;
///
/// assert_eq!(json_expression(&json!({"a": [1, "x"]})), r#"{"a": [1, "x"]}"#);
/// ```
#[must_use]
pub fn json_expression(value: &Value) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_value(&mut text, value, MAX_DEPTH);
    text
}

fn write_value(text: &mut String, value: &Value, levels: usize) -> fmt::Result {
    let Some(levels) = levels.checked_sub(1) else {
        text.push('…');
        return Ok(());
    };
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(separator(index));
                write_value(text, item, levels)?;
            }
            text.push(']');
            Ok(())
        }
        Value::Object(members) => {
            text.push('{');
            for (index, (name, member)) in members.iter().enumerate() {
                write!(text, "{}{}: ", separator(index), Value::from(name.as_str()))?;
                write_value(text, member, levels)?;
            }
            text.push('}');
            Ok(())
        }
        other => write!(text, "{other}"),
    }
}

fn separator(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}
