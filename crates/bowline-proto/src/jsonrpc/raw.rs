//! JSON that is carried, not interpreted.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

/// A JSON value kept verbatim, byte for byte as it came.
///
/// Used where the content belongs to someone else: tool schemas, structured
/// results, unknown fields. Equality is equality of the text.
///
/// ```
/// use bowline_proto::jsonrpc::RawJson;
///
/// let schema: RawJson = serde_json::from_str(r#"{"type": "object"}"#).unwrap();
/// assert_eq!(schema.get(), r#"{"type": "object"}"#, "the space is still there");
/// ```
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Encodes `value`.
    ///
    /// # Errors
    ///
    /// Where `value` itself refuses to be serialised, or has a map key that is
    /// not a string.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        to_raw_value(value).map(Self)
    }

    /// Takes over a text that must be one JSON value.
    ///
    /// # Errors
    ///
    /// Where the text is not JSON.
    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Decodes the text into a type.
    ///
    /// # Errors
    ///
    /// Where the JSON does not have the shape of `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
