//! A JSON object of somebody else's, of which only some members are known.

use std::fmt;

use serde_json::{Map, Value};

/// A JSON object as it came. Members that nobody here knows are kept, and one
/// of the wrong type counts as absent: these documents are written by many
/// hands, and most of what is in them does not concern us.
#[derive(Clone, PartialEq, Default)]
pub struct JsonDocument(Map<String, Value>);

/// The bytes are no JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonDocumentError;

impl JsonDocument {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// Where the bytes are something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonDocumentError> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            _ => Err(JsonDocumentError),
        }
    }

    /// The member of this name, whatever it is.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The names of all members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A text that is not empty.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.as_str()?;
        (!value.is_empty()).then_some(value)
    }

    /// A list of texts; `None` where there is no list.
    #[must_use]
    pub fn strings(&self, name: &str) -> Option<Vec<String>> {
        let list = self.0.get(name)?.as_array()?.iter();
        Some(list.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Whether the member is `true`.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A whole number that is not negative. Some servers write it as text.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::String(digits) => digits.parse().ok(),
            number => number.as_u64(),
        }
    }
}

impl fmt::Debug for JsonDocument {
    /// Names only: some documents hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Display for JsonDocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a JSON object")
    }
}

impl std::error::Error for JsonDocumentError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_wrong_type_are_absent_and_unknown_ones_kept() {
        let text = br#"{"a": 1, "b": ["x", 2, "y"], "c": "", "d": true, "e": "30", "f": -1}"#;
        let document = JsonDocument::parse(text).unwrap();
        assert_eq!(document.string("a"), None);
        assert_eq!(document.strings("b").unwrap(), ["x", "y"]);
        assert_eq!(document.string("c"), None);
        assert!(document.flag("d") && !document.flag("a"));
        assert_eq!(
            (document.number("a"), document.number("e")),
            (Some(1), Some(30))
        );
        assert_eq!(document.number("f"), None);
        assert_eq!(document.names().count(), 6);
        assert_eq!(JsonDocument::parse(b"[]"), Err(JsonDocumentError));
        assert_eq!(JsonDocument::parse(b""), Err(JsonDocumentError));
    }

    #[test]
    fn values_are_not_shown() {
        let document = JsonDocument::parse(br#"{"access_token": "hush"}"#).unwrap();
        assert_eq!(format!("{document:?}"), r#"{"access_token"}"#);
    }
}
