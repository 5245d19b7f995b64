//! A fast decoder for JSON in the usual form.
//!
//! `serde_json` scans strings a few bytes at a time, collects one that has
//! escapes in its own buffer, and copies it from there. Here a string is
//! scanned in blocks and written once, to its destination. That is several
//! times as fast for long strings, and somewhat faster for everything else.
//!
//! Unusual JSON is not decoded, and errors have no message. A caller that gets
//! `None` falls back to `serde_json`.

mod access;
mod key;
mod number;
mod value;

use std::fmt;

use serde::{Deserialize, de};

use crate::jsonrpc::skip;

/// Decodes one JSON value, if it is of this type and written in the usual form.
///
/// The value is the one `serde_json` would decode. On `None`, `serde_json` may
/// still be able to decode it, and otherwise reports the error:
///
/// ```
/// use bowline_proto::jsonrpc::decode_fast;
///
/// let names: Option<Vec<String>> = decode_fast(r#"["a", "b\n"]"#);
/// assert_eq!(names.unwrap(), ["a", "b\n"]);
/// assert_eq!(decode_fast::<Vec<String>>(r#"["a", 7]"#), None);
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

/// The maximum number of nested objects and arrays: the limit of `serde_json`.
const MAX_DEPTH: u8 = 127;

/// A reader that decodes values from a JSON text.
struct Reader<'de> {
    json: &'de str,
    at: usize,
    /// The number of open objects and arrays.
    depth: u8,
}

/// The error for a value that is not decoded here. Never shown: the fallback
/// decoder reports the error.
#[derive(Debug)]
struct NotFast;

type Result<T> = std::result::Result<T, NotFast>;

impl<'de> Reader<'de> {
    /// Returns the first byte that is not whitespace, without consuming it.
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

    /// Consumes a byte that must come next.
    #[inline]
    fn expect(&mut self, expected: u8) -> Result<()> {
        if self.token()? != expected {
            return Err(NotFast);
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes a literal that must come next.
    fn literal(&mut self, literal_text: &str) -> Result<()> {
        self.token()?;
        let rest = &self.json.as_bytes()[self.at..];
        if !rest.starts_with(literal_text.as_bytes()) {
            return Err(NotFast);
        }
        self.at += literal_text.len();
        Ok(())
    }

    /// Enters an object or array.
    fn enter(&mut self, bracket: u8) -> Result<()> {
        self.expect(bracket)?;
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(NotFast),
            false => Ok(()),
        }
    }

    /// Leaves an object or array.
    fn leave(&mut self, bracket: u8) -> Result<()> {
        self.depth -= 1;
        self.expect(bracket)
    }

    /// Returns whether nothing follows.
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
