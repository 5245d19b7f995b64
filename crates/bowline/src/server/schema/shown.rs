//! Values as they are shown in messages: as JSON, of a length that can be read.

use std::fmt;

use serde_json::{Map, Value};

use crate::proto::jsonrpc::RawJson;

/// How many characters of a value are shown.
const MAX_SHOWN: usize = 200;

/// A value as JSON, or the beginning of it where it is long: a message about a
/// value of some megabytes must not be as large.
///
/// What fits is what `Display` of the value itself writes. That has a second
/// writer along, for JSON in lines, and both are large.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a>(pub(super) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning = beginning(self.0, &mut { MAX_SHOWN });
        let json = RawJson::encode(&beginning).map_err(|_| fmt::Error)?;
        let (shown, rest) = cut(json.get());
        f.write_str(shown)?;
        f.write_str(if rest { "…" } else { "" })
    }
}

/// A text of a length that can be read.
pub(super) fn short(text: String) -> String {
    match cut(&text) {
        (shown, true) => format!("{shown}…"),
        (_, false) => text,
    }
}

/// What is shown of a text, and whether that is not all.
fn cut(text: &str) -> (&str, bool) {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => (&text[..at], true),
        None => (text, false),
    }
}

/// As much of a value as is needed to fill this room, and a little more, so
/// that what is cut can be told from what is complete.
fn beginning(value: &Value, room: &mut usize) -> Value {
    match value {
        Value::String(text) => Value::String(start(text, room)),
        Value::Array(items) => {
            let mut shown = Vec::new();
            for item in items {
                shown.push(beginning(item, room));
                if *room == 0 {
                    break;
                }
                *room -= 1;
            }
            Value::Array(shown)
        }
        Value::Object(members) => {
            let mut shown = Map::new();
            for (name, member) in members {
                let name = start(name, room);
                let member = beginning(member, room);
                shown.insert(name, member);
                if *room == 0 {
                    break;
                }
                *room -= 1;
            }
            Value::Object(shown)
        }
        other => other.clone(),
    }
}

fn start(text: &str, room: &mut usize) -> String {
    let start: String = text.chars().take(*room + 1).collect();
    *room = room.saturating_sub(start.chars().count());
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
            json!("x".repeat(MAX_SHOWN - 2)),
            json!(vec![1; MAX_SHOWN / 2 - 1]),
        ] {
            assert_eq!(Shown(&value).to_string(), value.to_string());
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
            let shown = Shown(&value).to_string();
            let start = shown.strip_suffix('…').expect("it is cut");
            assert_eq!(start.chars().count(), MAX_SHOWN);
            assert!(value.to_string().starts_with(start), "{shown}");
        }
    }
}
