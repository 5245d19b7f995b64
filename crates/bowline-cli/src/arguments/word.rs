//! Parsing one command-line word as an argument.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use serde_json::{Map, Value};

use super::loose_json;
use crate::{failure::Failure, input};

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentWord {
    /// A named string, which the schema interprets.
    Text { name: String, text: String },
    /// A named JSON value.
    Json { name: String, value: Value },
    /// An object with all or several arguments.
    Object(Map<String, Value>),
    /// A positional value.
    Positional(ArgumentValue),
}

/// A value, as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentValue {
    /// A string, which the schema interprets.
    Text(String),
    /// A JSON value.
    Json(Value),
}

/// Parses words. Standard input can be read only once.
#[derive(Debug, Default)]
pub(super) struct WordReader {
    stdin_consumed: bool,
    /// How long a pipe may take to end, if limited.
    timeout: Option<Duration>,
}

impl WordReader {
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            ..Self::default()
        }
    }

    pub(super) fn read_word(&mut self, word: &str) -> Result<ArgumentWord, Failure> {
        if word == "-" {
            let text = self.stdin("-")?;
            return parse_object("standard input", &text);
        }
        if let Some(path) = word.strip_prefix('@') {
            let text = self.file(word, path)?;
            return parse_object(path, &text);
        }
        if word.trim_start().starts_with('{') {
            return parse_object("the object", word);
        }
        let Some((name, text)) = word.split_once('=') else {
            return Err(not_an_argument(word));
        };
        if let Some(name) = name.strip_suffix(':') {
            let name = non_empty_name(word, name)?;
            let value = self.json(&name, text)?;
            return Ok(ArgumentWord::Json { name, value });
        }
        let name = non_empty_name(word, name)?;
        let text = match text.strip_prefix('@') {
            // `@@` escapes a string that begins with `@`.
            Some(literal) if literal.starts_with('@') => literal.to_owned(),
            Some(path) => self.file(&name, path)?,
            None => text.to_owned(),
        };
        Ok(ArgumentWord::Text { name, text })
    }

    fn json(&mut self, name: &str, text: &str) -> Result<Value, Failure> {
        let (text, source) = match text.strip_prefix('@') {
            Some(path) => (self.file(name, path)?, path),
            None => (text.to_owned(), name),
        };
        loose_json::parse(&text).map_err(|why| {
            Failure::usage(format!("{source}: invalid JSON: {why}"))
                .hint(format!("for plain text, write {name}={text}"))
        })
    }

    /// Reads a file, or standard input for `-`.
    fn file(&mut self, what: &str, path: &str) -> Result<String, Failure> {
        if path == "-" {
            return self.stdin(what);
        }
        input::read(path, self.timeout)
            .map_err(|failure| failure.hint("@ reads a file; write @@ for a literal @"))
    }

    fn stdin(&mut self, what: &str) -> Result<String, Failure> {
        if std::mem::replace(&mut self.stdin_consumed, true) {
            return Err(Failure::usage(format!(
                "{what}: standard input was already read"
            )));
        }
        if io::stdin().is_terminal() {
            return Err(
                Failure::usage(format!("{what}: standard input is a terminal"))
                    .hint("pipe something in, or name a file with @"),
            );
        }
        input::read("-", self.timeout)
    }
}

fn non_empty_name(word: &str, name: &str) -> Result<String, Failure> {
    match name {
        "" => Err(not_an_argument(word)),
        name => Ok(name.to_owned()),
    }
}

fn parse_object(source: &str, text: &str) -> Result<ArgumentWord, Failure> {
    match loose_json::parse(text) {
        Ok(Value::Object(members)) => Ok(ArgumentWord::Object(members)),
        Ok(_) => Err(Failure::usage(format!("{source}: expected an object"))),
        Err(why) => Err(Failure::usage(format!("{source}: invalid JSON: {why}"))),
    }
}

fn not_an_argument(word: &str) -> Failure {
    Failure::usage(format!("`{word}` is not a valid argument")).hint(
        "write name=value, name:=JSON, name=@file, '{…}', @file.json, or - for standard input",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ArgumentWord, WordReader};

    fn text(name: &str, text: &str) -> ArgumentWord {
        ArgumentWord::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn words_are_told_apart() {
        let json = |name: &str, value| ArgumentWord::Json {
            name: name.to_owned(),
            value,
        };
        let all = |value: serde_json::Value| {
            ArgumentWord::Object(value.as_object().expect("it is").clone())
        };
        let cases = [
            ("a=b", text("a", "b")),
            ("a=", text("a", "")),
            ("a=b=c", text("a", "b=c")),
            ("url=http://x/?q:=1", text("url", "http://x/?q:=1")),
            ("handle=@@ada", text("handle", "@ada")),
            ("a.b=1", text("a.b", "1")),
            ("a:=1", json("a", json!(1))),
            ("a:=[1, {b: 'c'}]", json("a", json!([1, {"b": "c"}]))),
            ("{\"a\": 1}", all(json!({"a": 1}))),
            ("{a: 1, b: two}", all(json!({"a": 1, "b": "two"}))),
        ];
        for (word, expected) in cases {
            let parsed = WordReader::default().read_word(word).expect(word);
            assert_eq!(parsed, expected, "{word}");
        }
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        let cases = [
            ("word", "`word` is not a valid argument"),
            ("=x", "`=x` is not a valid argument"),
            ("a:={", "a: invalid JSON: unexpected end of input"),
            ("{1", "the object: invalid JSON: expected a colon"),
            ("a=@/no/such/file", "file `/no/such/file` not found"),
        ];
        for (word, expected) in cases {
            let failure = WordReader::default().read_word(word).expect_err(word);
            assert_eq!(failure.message, expected, "{word}");
        }
    }
}
