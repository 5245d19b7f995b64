//! Relaxed JSON: unquoted names and words, single quotes, trailing commas.

use serde_json::{Map, Value};

use super::strict_json::{self, StrictJsonError};

/// Maximum nesting of lists and objects.
const MAX_DEPTH: usize = 64;

/// Parses one value. Valid JSON is parsed strictly.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    match strict_json::parse(text) {
        Ok(value) => return Ok(value),
        Err(StrictJsonError::DuplicateMember(name)) => return Err(duplicate_member(&name)),
        Err(StrictJsonError::NotJson) => {}
    }
    let mut scanner = Scanner::new(text);
    let value = scanner.parse_value(&[])?;
    scanner.expect_end()?;
    Ok(value)
}

/// A position in a string.
pub(super) struct Scanner<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.trim(),
            depth: 0,
        }
    }

    /// Returns the unread rest.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns the next character that is not whitespace.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Consumes a character, if it is next.
    pub(super) fn eat(&mut self, expected_char: char) -> bool {
        if self.peek() != Some(expected_char) {
            return false;
        }
        self.rest = &self.rest[expected_char.len_utf8()..];
        true
    }

    pub(super) fn expect_end(&mut self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(other) => Err(format!("unexpected `{other}`")),
        }
    }

    /// Parses a value. A bare word ends at a comma or at one of `stops`.
    pub(super) fn parse_value(&mut self, stops: &[char]) -> Result<Value, String> {
        match self.peek() {
            None => Err("unexpected end of input".to_owned()),
            Some('[') => self.nested(Self::list),
            Some('{') => self.nested(Self::object),
            Some('"' | '\'') => self.quoted_string().map(Value::String),
            Some(_) => {
                let word = self.bare_word(stops)?;
                let value = serde_json::from_str(word);
                Ok(value.unwrap_or_else(|_| Value::from(word)))
            }
        }
    }

    /// Parses bare words: everything up to a comma or one of `stops`.
    pub(super) fn bare_word(&mut self, stops: &[char]) -> Result<&'a str, String> {
        let end = |character: char| character == ',' || stops.contains(&character);
        let length = self.rest.find(end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        let word = word.trim();
        if word.is_empty() {
            return Err("expected a value".to_owned());
        }
        self.rest = rest;
        Ok(word)
    }

    /// Parses a name, quoted or not, and the colon after it.
    pub(super) fn name(&mut self) -> Result<String, String> {
        let name = match self.peek() {
            Some('"' | '\'') => self.quoted_string()?,
            _ => {
                let end = |character: char| !is_name_char(character);
                let length = self.rest.find(end).unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at(length);
                self.rest = rest;
                name.to_owned()
            }
        };
        match self.eat(':') {
            true => Ok(name),
            false if self.rest.is_empty() && name.is_empty() => {
                Err("unexpected end of input".to_owned())
            }
            false => Err("expected a colon".to_owned()),
        }
    }

    fn nested(
        &mut self,
        parse_fn: fn(&mut Self) -> Result<Value, String>,
    ) -> Result<Value, String> {
        if self.depth == MAX_DEPTH {
            return Err("nested too deeply".to_owned());
        }
        self.depth += 1;
        let value = parse_fn(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Value, String> {
        self.eat('[');
        let mut items = Vec::new();
        while !self.eat(']') {
            items.push(self.parse_value(&[']', '}'])?);
            if !self.eat(',') && self.peek() != Some(']') {
                return Err(self.expected_error("a comma or `]`"));
            }
        }
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value, String> {
        self.eat('{');
        let mut members = Map::new();
        while !self.eat('}') {
            let name = self.name()?;
            let value = self.parse_value(&[']', '}'])?;
            if members.contains_key(&name) {
                return Err(duplicate_member(&name));
            }
            members.insert(name, value);
            if !self.eat(',') && self.peek() != Some('}') {
                return Err(self.expected_error("a comma or `}`"));
            }
        }
        Ok(Value::Object(members))
    }

    fn expected_error(&mut self, what: &str) -> String {
        match self.peek() {
            None => "unexpected end of input".to_owned(),
            Some(_) => format!("expected {what}"),
        }
    }

    /// Parses a string in single or double quotes.
    pub(super) fn quoted_string(&mut self) -> Result<String, String> {
        let mut characters = self.rest.char_indices();
        let quote = characters.next().map_or('"', |(_, quote)| quote);
        // Rewritten with JSON quotes; the JSON parser handles the escapes.
        let mut json = String::from('"');
        let mut escaped = false;
        for (index, character) in characters {
            match character {
                _ if escaped => {
                    escaped = false;
                    // JSON has no escaped apostrophe.
                    if character != '\'' {
                        json.push('\\');
                    }
                    json.push(character);
                }
                '\\' => escaped = true,
                _ if character == quote => {
                    self.rest = &self.rest[index + quote.len_utf8()..];
                    json.push('"');
                    let text = serde_json::from_str(&json);
                    return text.map_err(|_| "invalid escape in a string".to_owned());
                }
                '"' => json.push_str("\\\""),
                _ if character.is_ascii_control() => {
                    json.push_str(&format!("\\u{:04x}", u32::from(character)));
                }
                _ => json.push(character),
            }
        }
        Err("missing closing quote".to_owned())
    }
}

/// Returns the error for a duplicate member, of which one would be dropped.
fn duplicate_member(name: &str) -> String {
    format!("duplicate member `{name}`")
}

/// Returns whether an unquoted name may contain this character.
pub(super) fn is_name_char(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '$')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::parse;

    #[test]
    fn what_people_type_is_read() {
        let cases = [
            (
                "{a: 1, 'b': \"x\", c: [true, null,],}",
                json!({"a": 1, "b": "x", "c": [true, null]}),
            ),
            (
                "[red, dark blue, 'it\\'s']",
                json!(["red", "dark blue", "it's"]),
            ),
            ("'say \"hi\"'", json!("say \"hi\"")),
            ("\"\\u00e9\\n\"", json!("é\n")),
            ("{}", json!({})),
            ("1e3", json!(1000.0)),
            ("hello, world", Value::Null),
        ];
        for (text, expected) in cases {
            match parse(text) {
                Ok(read) => assert_eq!(read, expected, "{text}"),
                Err(why) => assert_eq!((expected, why.as_str()), (Value::Null, "unexpected `,`")),
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let deep = "[".repeat(1000);
        let cases = [
            ("", "unexpected end of input"),
            ("{a: 1", "unexpected end of input"),
            ("{a 1}", "expected a colon"),
            ("[1 2]", ""),
            ("['x]", "missing closing quote"),
            ("[,]", "expected a value"),
            ("{a: 1, 'a': 2}", "duplicate member `a`"),
            (r#"[{"b": {"a": 1, "\u0061": 2}}]"#, "duplicate member `a`"),
            (&deep, "nested too deeply"),
        ];
        for (text, expected) in cases {
            let read = parse(text);
            if expected.is_empty() {
                assert_eq!(read, Ok(json!(["1 2"])));
            } else {
                assert_eq!(read, Err(expected.to_owned()), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in ".{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn quoted_texts_are_themselves(text in any::<String>()) {
            let text = text.replace(['\\', '\''], "");
            prop_assert_eq!(parse(&format!("'{text}'")), Ok(Value::from(text)));
        }
    }
}
