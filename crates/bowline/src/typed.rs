//! What generated clients use; see `bowline gen rust`.
//!
//! Types for JSON that a schema does not describe, and the few functions that would
//! otherwise be repeated in every generated module.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize};
pub use serde_json::Value;

pub use crate::client::Typed;

/// An object with any members.
pub type Object = serde_json::Map<String, Value>;

/// An object whose members have one type.
pub type Map<K, V> = std::collections::BTreeMap<K, V>;

/// Decodes a member that may be absent or null. With serde's `default`, an absent member
/// is `None`, and a null is `Some(None)`.
///
/// # Errors
///
/// Returns an error if the value does not decode.
pub fn absent_or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Returns the arguments of a prompt: the members that are strings.
pub fn prompt_arguments(arguments: &impl Serialize) -> impl Iterator<Item = (String, String)> {
    let members = match serde_json::to_value(arguments) {
        Ok(Value::Object(members)) => members,
        _ => Object::new(),
    };
    members.into_iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text)),
        _ => None,
    })
}

/// Encodes the value of a variable in a URI template: everything but letters, digits,
/// `-`, `.`, `_` and `~`.
///
/// ```
/// assert_eq!(bowline::typed::encode("a b/ä"), "a%20b%2F%C3%A4");
/// ```
#[must_use]
pub fn encode(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            other => drop(write!(encoded, "%{other:02X}")),
        }
    }
    encoded
}
