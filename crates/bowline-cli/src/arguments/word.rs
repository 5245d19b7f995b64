//! One word of a command line, as something that is given to a tool.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use serde_json::{Map, Value};

use super::relaxed;
use crate::{failure::Failure, input};

/// Something that is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// A text by its name: the schema says what to make of it.
    Text { name: String, text: String },
    /// A value by its name.
    Json { name: String, value: Value },
    /// All of it, or much.
    All(Map<String, Value>),
    /// A value by its place.
    Placed(Typed),
}

/// A value, as it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Typed {
    /// A text: the schema says what to make of it.
    Text(String),
    /// A value.
    Json(Value),
}

/// Reads words. Standard input can be read only once.
#[derive(Debug, Default)]
pub(super) struct Reader {
    stdin_is_read: bool,
    /// How long a pipe may take to end, if that is limited.
    time: Option<Duration>,
}

impl Reader {
    pub(super) fn new(time: Option<Duration>) -> Self {
        Self {
            time,
            ..Self::default()
        }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<Given, Failure> {
        if word == "-" {
            let text = self.stdin("-")?;
            return object("standard input", &text);
        }
        if let Some(path) = word.strip_prefix('@') {
            let text = self.file(word, path)?;
            return object(path, &text);
        }
        if word.trim_start().starts_with('{') {
            return object("the object", word);
        }
        let Some((name, text)) = word.split_once('=') else {
            return Err(not_an_argument(word));
        };
        if let Some(name) = name.strip_suffix(':') {
            let name = named(word, name)?;
            let value = self.json(&name, text)?;
            return Ok(Given::Json { name, value });
        }
        let name = named(word, name)?;
        let text = match text.strip_prefix('@') {
            // Twice is a letter, for texts that begin with one.
            Some(literal) if literal.starts_with('@') => literal.to_owned(),
            Some(path) => self.file(&name, path)?,
            None => text.to_owned(),
        };
        Ok(Given::Text { name, text })
    }

    fn json(&mut self, name: &str, text: &str) -> Result<Value, Failure> {
        let (text, source) = match text.strip_prefix('@') {
            Some(path) => (self.file(name, path)?, path),
            None => (text.to_owned(), name),
        };
        relaxed::value(&text).map_err(|why| {
            Failure::usage(format!("{source}: not JSON: {why}"))
                .hint(format!("for plain text, write {name}={text}"))
        })
    }

    /// The text of a file, or of standard input, which is called `-`.
    fn file(&mut self, what: &str, path: &str) -> Result<String, Failure> {
        if path == "-" {
            return self.stdin(what);
        }
        input::read(path, self.time)
            .map_err(|failure| failure.hint("@ stands before the name of a file; @@ is a plain @"))
    }

    fn stdin(&mut self, what: &str) -> Result<String, Failure> {
        if std::mem::replace(&mut self.stdin_is_read, true) {
            return Err(Failure::usage(format!(
                "{what}: standard input is already read"
            )));
        }
        if io::stdin().is_terminal() {
            return Err(
                Failure::usage(format!("{what}: there is nothing on standard input"))
                    .hint("pipe something in, or name a file with @"),
            );
        }
        input::read("-", self.time)
    }
}

fn named(word: &str, name: &str) -> Result<String, Failure> {
    match name {
        "" => Err(not_an_argument(word)),
        name => Ok(name.to_owned()),
    }
}

fn object(source: &str, text: &str) -> Result<Given, Failure> {
    match relaxed::value(text) {
        Ok(Value::Object(members)) => Ok(Given::All(members)),
        Ok(_) => Err(Failure::usage(format!("{source}: an object is expected"))),
        Err(why) => Err(Failure::usage(format!("{source}: not JSON: {why}"))),
    }
}

fn not_an_argument(word: &str) -> Failure {
    Failure::usage(format!("`{word}` is not an argument")).hint(
        "write name=value, name:=JSON, name=@file, '{…}', @file.json, or - for standard input",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Given, Reader};

    fn text(name: &str, text: &str) -> Given {
        Given::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn words_are_told_apart() {
        let json = |name: &str, value| Given::Json {
            name: name.to_owned(),
            value,
        };
        let all = |value: serde_json::Value| Given::All(value.as_object().expect("it is").clone());
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
            let given = Reader::default().word(word).expect(word);
            assert_eq!(given, expected, "{word}");
        }
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        let cases = [
            ("word", "`word` is not an argument"),
            ("=x", "`=x` is not an argument"),
            ("a:={", "a: not JSON: it ends too early"),
            ("{1", "the object: not JSON: a colon is expected"),
            ("a=@/no/such/file", "no file `/no/such/file`"),
        ];
        for (word, expected) in cases {
            let failure = Reader::default().word(word).expect_err(word);
            assert_eq!(failure.message, expected, "{word}");
        }
    }
}
