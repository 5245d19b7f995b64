//! Values in messages: as JSON, truncated to a readable length.

use std::fmt::{self, Write as _};

use serde_json::Value;

/// The maximum number of characters of a value that are shown.
const MAX_CHARS: usize = 200;

/// The maximum number of characters of an entry in a list.
const MAX_CHARS_OF_ENTRY: usize = 80;

/// A value as compact JSON, truncated if it is long: a message about a value of
/// some megabytes must not be as large.
///
/// `Display` of a value would link a pretty-printing writer too, and would write
/// all of it.
#[derive(Clone, Copy)]
pub(super) struct TruncatedJson<'a>(pub(super) &'a Value);

impl fmt::Display for TruncatedJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_truncated(f, MAX_CHARS, |writer| writer.value(self.0))
    }
}

/// Appends a value to a message, as [`TruncatedJson`].
pub(super) fn push_value(message: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = write_truncated(message, MAX_CHARS, |writer| writer.value(value));
}

/// Appends a value to a message as an entry in a list, which is shorter.
pub(super) fn push_entry(message: &mut String, value: &Value) {
    let _ = write_truncated(message, MAX_CHARS_OF_ENTRY, |writer| writer.value(value));
}

/// Appends a string to a message as JSON, truncated if it is long.
pub(super) fn push_text(message: &mut String, text: &str) {
    let _ = write_truncated(message, MAX_CHARS, |writer| writer.string(text));
}

fn write_truncated<W: fmt::Write>(
    out: &mut W,
    max_chars: usize,
    write: impl FnOnce(&mut TruncatingWriter<'_, W>) -> fmt::Result,
) -> fmt::Result {
    let mut writer = TruncatingWriter {
        out,
        remaining: max_chars,
    };
    match write(&mut writer) {
        Err(_) if writer.remaining == 0 => out.write_char('…'),
        written => written,
    }
}

/// Writes JSON until the characters run out, which is an error.
struct TruncatingWriter<'a, W> {
    out: &'a mut W,
    remaining: usize,
}

impl<W: fmt::Write> fmt::Write for TruncatingWriter<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // There are at least as many bytes as characters.
        let cut = match text.len() > self.remaining {
            true => text.char_indices().nth(self.remaining),
            false => None,
        };
        let shown = cut.map_or(text, |(at, _)| &text[..at]);
        self.remaining -= shown.chars().count();
        self.out.write_str(shown)?;
        match cut {
            Some(_) => Err(fmt::Error),
            None => Ok(()),
        }
    }
}

impl<W: fmt::Write> TruncatingWriter<'_, W> {
    fn value(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::Null => self.write_str("null"),
            Value::Bool(true) => self.write_str("true"),
            Value::Bool(false) => self.write_str("false"),
            Value::Number(number) => write!(self, "{number}"),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    self.write_str(if index == 0 { "" } else { "," })?;
                    self.value(item)?;
                }
                self.write_char(']')
            }
            Value::Object(members) => {
                self.write_char('{')?;
                for (index, (name, member)) in members.iter().enumerate() {
                    self.write_str(if index == 0 { "" } else { "," })?;
                    self.string(name)?;
                    self.write_char(':')?;
                    self.value(member)?;
                }
                self.write_char('}')
            }
        }
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        self.write_char('"')?;
        let mut rest = text;
        let is_escaped = |character: char| matches!(character, '"' | '\\' | '\0'..' ');
        while let Some(at) = rest.find(is_escaped) {
            let (plain, escaped) = rest.split_at(at);
            self.write_str(plain)?;
            match escaped.as_bytes()[0] {
                b'"' => self.write_str("\\\"")?,
                b'\\' => self.write_str("\\\\")?,
                b'\n' => self.write_str("\\n")?,
                b'\r' => self.write_str("\\r")?,
                b'\t' => self.write_str("\\t")?,
                0x8 => self.write_str("\\b")?,
                0xc => self.write_str("\\f")?,
                control => write!(self, "\\u{control:04x}")?,
            }
            rest = &escaped[1..];
        }
        self.write_str(rest)?;
        self.write_char('"')
    }
}

/// Returns a string as JSON, truncated if it is long.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_text(&mut quoted, text);
    quoted
}

/// Truncates a string to a readable length.
pub(super) fn truncate_message(text: String) -> String {
    truncate(text, MAX_CHARS)
}

/// Truncates a string that is one of a list to a readable length.
pub(super) fn truncate_entry(text: String) -> String {
    truncate(text, MAX_CHARS_OF_ENTRY)
}

fn truncate(text: String, max_chars: usize) -> String {
    if text.len() <= max_chars {
        return text;
    }
    match text.char_indices().nth(max_chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
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
            json!({"\"\\/\u{8}\u{c}\n\r\t\u{1}": "\u{7f}é\u{2028}"}),
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
