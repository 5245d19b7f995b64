//! Values straight out of JSON text, without a stop on the way.
//!
//! `serde_json` looks at texts a few bytes at a time, gathers one that has
//! escapes in a buffer of its own, and copies it from there. Here a text is
//! looked at in blocks and written once, where it stays. That is several times as
//! fast for long texts, and somewhat for everything else.
//!
//! What is unusual is not read here, and neither are the words found for what is
//! wrong. Whoever gets nothing asks `serde_json`.

mod access;
mod key;
mod number;
mod value;

use std::fmt;

use serde::{Deserialize, de};

use super::skip;

/// Reads one JSON value, if it is of this type and written as is usual.
///
/// What is read is what `serde_json` would have read. Where there is nothing,
/// it may be able to read it all the same, and if not, it knows why:
///
/// ```
/// use bowline_proto::jsonrpc::decode_plain;
///
/// let names: Option<Vec<String>> = decode_plain(r#"["a", "b\n"]"#);
/// assert_eq!(names.unwrap(), ["a", "b\n"]);
/// assert_eq!(decode_plain::<Vec<String>>(r#"["a", 7]"#), None);
/// ```
#[must_use]
pub fn decode_fast<'de, T: Deserialize<'de>>(json: &'de str) -> Option<T> {
    let mut reader = Reader {
        json,
        at: 0,
        depth: 0,
    };
    let value = T::deserialize(&mut reader).ok()?;
    reader.is_at_end().then_some(value)
}

/// How many objects and arrays may be open at once: as many as `serde_json`
/// allows.
const MAX_DEPTH: u8 = 127;

/// A walk over a JSON text that makes values on its way.
struct Reader<'de> {
    json: &'de str,
    at: usize,
    /// How many objects and arrays are open.
    depth: u8,
}

/// It is not read here. Nobody sees this: someone else finds the words.
#[derive(Debug)]
struct NotFast;

type Result<T> = std::result::Result<T, NotFast>;

impl<'de> Reader<'de> {
    /// The first byte that is not whitespace, which stays where it is.
    #[inline]
    fn token(&mut self) -> Result<u8> {
        let bytes = self.json.as_bytes();
        match bytes.get(self.at) {
            // Most JSON is written without whitespace.
            Some(&token) if token > b' ' => Ok(token),
            _ => {
                self.at = skip::whitespace(bytes, self.at);
                bytes.get(self.at).copied().ok_or(NotFast)
            }
        }
    }

    /// Gets past a byte that must be there.
    #[inline]
    fn expect(&mut self, expected: u8) -> Result<()> {
        if self.token()? != expected {
            return Err(NotFast);
        }
        self.at += 1;
        Ok(())
    }

    /// Gets past a name that must be there.
    fn literal(&mut self, literal_text: &str) -> Result<()> {
        self.token()?;
        let rest = &self.json.as_bytes()[self.at..];
        if !rest.starts_with(literal_text.as_bytes()) {
            return Err(NotFast);
        }
        self.at += literal_text.len();
        Ok(())
    }

    /// Goes into an object or array.
    fn enter(&mut self, bracket: u8) -> Result<()> {
        self.expect(bracket)?;
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(NotFast),
            false => Ok(()),
        }
    }

    /// Comes out of it.
    fn leave(&mut self, bracket: u8) -> Result<()> {
        self.depth -= 1;
        self.expect(bracket)
    }

    /// Whether nothing follows.
    fn is_at_end(&self) -> bool {
        skip::whitespace(self.json.as_bytes(), self.at) == self.json.len()
    }
}

impl fmt::Display for NotFast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not read")
    }
}

impl std::error::Error for NotFast {}

impl de::Error for NotFast {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}
