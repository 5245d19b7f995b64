//! JSON values on one line, cut where they are long.

use serde_json::Value;

/// How deep values are written.
const MAX_DEPTH: usize = 16;

/// Writes a value as JSON on one line, with `…` for what exceeds about `max_length`
/// bytes.
pub(super) fn write_json(value: &Value, max_length: usize) -> String {
    let mut text = String::new();
    Writer {
        text: &mut text,
        max_length,
    }
    .value(value, MAX_DEPTH);
    text
}

/// Cuts a text to a number of characters. What is cut off is marked by `…`.
pub(super) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

struct Writer<'t> {
    text: &'t mut String,
    max_length: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        match (value, depth.checked_sub(1)) {
            (Value::String(text), _) => self.string(text),
            (Value::Array(items), Some(depth)) => {
                self.list('[', items.iter(), ']', |writer, item| {
                    writer.value(item, depth);
                });
            }
            (Value::Object(members), Some(depth)) => {
                self.list('{', members.iter(), '}', |writer, (name, member)| {
                    writer.string(name);
                    writer.text.push_str(": ");
                    writer.value(member, depth);
                });
            }
            (Value::Array(_) | Value::Object(_), None) => self.text.push('…'),
            (scalar, _) => self.text.push_str(&scalar.to_string()),
        }
    }

    fn string(&mut self, text: &str) {
        let remaining = self.max_length.saturating_sub(self.text.len());
        self.text
            .push_str(&Value::from(cut(text, remaining)).to_string());
    }

    fn list<T>(
        &mut self,
        open: char,
        items: impl Iterator<Item = T>,
        close: char,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.text.push(open);
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            if self.text.len() >= self.max_length {
                self.text.push('…');
                break;
            }
            write(self, item);
        }
        self.text.push(close);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::write_json;

    #[test]
    fn values_are_cut_where_they_are_long_or_deep() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = Value::Array(vec![deep]);
        }
        let cases = [
            (
                json!({"a": [1, "x\n", null], "b": {}}),
                100,
                r#"{"a": [1, "x\n", null], "b": {}}"#,
            ),
            (json!("abcdef"), 3, r#""abc…""#),
            (json!([1, 2, 3, 4]), 4, "[1, …]"),
            (deep, 100, "[[[[[[[[[[[[[[[[…]]]]]]]]]]]]]]]]"),
        ];
        for (value, max_length, expected) in cases {
            assert_eq!(write_json(&value, max_length), expected);
        }
    }
}
