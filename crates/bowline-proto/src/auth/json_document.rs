//! A third-party JSON document, of which only some members are known.

use std::fmt;

use serde_json::{Map, Value};

/// A JSON object, kept verbatim. Unknown members are kept, and a member of the
/// wrong type counts as absent: these documents come from many implementations,
/// and most of their content does not concern us.
#[derive(Clone, PartialEq, Default)]
pub struct JsonDocument(Map<String, Value>);

/// The error for bytes that are not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonDocumentError;

impl JsonDocument {
    /// Parses an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are anything else.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonDocumentError> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            _ => Err(JsonDocumentError),
        }
    }

    /// Returns the member with this name, of any type.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns the names of all members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns a string that is not empty.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.as_str()?;
        (!value.is_empty()).then_some(value)
    }

    /// Returns a list of strings; `None` if the member is not a list.
    #[must_use]
    pub fn strings(&self, name: &str) -> Option<Vec<String>> {
        let list = self.0.get(name)?.as_array()?.iter();
        Some(list.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns whether the member is `true`.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a non-negative integer. Some servers write it as a string.
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
        f.write_str("the document is not a JSON object")
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
