//! Values in messages: as JSON, truncated to a readable length.

use std::fmt;

use serde_json::{Map, Value};

use crate::proto::jsonrpc::RawJson;

/// The maximum number of characters of a value that are shown.
const MAX_CHARS: usize = 200;

/// A value as JSON, truncated if it is long: a message about a value of some
/// megabytes must not be as large.
///
/// Short values are written as `Display` of the value would. That also links a
/// second, pretty-printing writer, and both are large.
#[derive(Clone, Copy)]
pub(super) struct TruncatedJson<'a>(pub(super) &'a Value);

impl fmt::Display for TruncatedJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let truncated = truncate_value(self.0, &mut { MAX_CHARS });
        let json = RawJson::encode(&truncated).map_err(|_| fmt::Error)?;
        let (text, rest) = truncate_chars(json.get());
        f.write_str(text)?;
        f.write_str(if rest { "…" } else { "" })
    }
}

/// Truncates a string to a readable length.
pub(super) fn truncate_message(text: String) -> String {
    match truncate_chars(&text) {
        (prefix, true) => format!("{prefix}…"),
        (_, false) => text,
    }
}

/// Returns the visible part of a string, and whether it was cut.
fn truncate_chars(text: &str) -> (&str, bool) {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => (&text[..at], true),
        None => (text, false),
    }
}

/// Returns as much of a value as is needed to fill this many characters, and a
/// little more, so that a truncated value can be told from a complete one.
fn truncate_value(value: &Value, remaining: &mut usize) -> Value {
    match value {
        Value::String(text) => Value::String(truncate_string(text, remaining)),
        Value::Array(items) => {
            let mut kept_items = Vec::new();
            for item in items {
                kept_items.push(truncate_value(item, remaining));
                if *remaining == 0 {
                    break;
                }
                *remaining -= 1;
            }
            Value::Array(kept_items)
        }
        Value::Object(members) => {
            let mut kept_items = Map::new();
            for (name, member) in members {
                let name = truncate_string(name, remaining);
                let member = truncate_value(member, remaining);
                kept_items.insert(name, member);
                if *remaining == 0 {
                    break;
                }
                *remaining -= 1;
            }
            Value::Object(kept_items)
        }
        other => other.clone(),
    }
}

fn truncate_string(text: &str, remaining: &mut usize) -> String {
    let start: String = text.chars().take(*remaining + 1).collect();
    *remaining = remaining.saturating_sub(start.chars().count());
    start
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_short_is_shown_as_it_is() {
        for value in [
            json!(null),
            json!({"a": [1, "x", {}], "b": 1.5}),
            json!("x".repeat(MAX_CHARS - 2)),
            json!(vec![1; MAX_CHARS / 2 - 1]),
        ] {
            assert_eq!(TruncatedJson(&value).to_string(), value.to_string());
        }
    }

    #[test]
    fn of_what_is_long_the_beginning_is_shown() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner, "some more"]));
        for value in [
            json!("ü".repeat(100_000)),
            json!(vec![1; 100_000]),
            json!({"x".repeat(100_000): "y".repeat(100_000)}),
            json!(vec![json!({"name": "x"}); 1000]),
            json!(vec!["üüüüüüüü"; 1000]),
            deep,
        ] {
            let shown = TruncatedJson(&value).to_string();
            let start = shown.strip_suffix('…').expect("it is cut");
            assert_eq!(start.chars().count(), MAX_CHARS);
            assert!(value.to_string().starts_with(start), "{shown}");
        }
    }
}
