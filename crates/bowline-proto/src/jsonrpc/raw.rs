//! Raw JSON that is carried, not interpreted.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::DeserializeOwned,
    ser::{Error as _, SerializeStruct as _},
};
use serde_json::value::RawValue;

use super::fast::write;

/// A JSON value kept verbatim, byte for byte.
///
/// Used where the content is not ours to interpret: tool schemas, structured
/// results, unknown fields. Equality is equality of the text.
///
/// ```
/// use bowline_proto::jsonrpc::RawJson;
///
/// let schema: RawJson = serde_json::from_str(r#"{"type": "object"}"#).unwrap();
/// assert_eq!(schema.get(), r#"{"type": "object"}"#, "the space is still there");
/// ```
#[derive(Clone)]
pub struct RawJson(Repr);

#[derive(Clone)]
enum Repr {
    Owned(Box<str>),
    Shared(Arc<str>),
}

/// The name of a struct whose only field JSON serialisers write verbatim. It is
/// `serde_json`'s name, which its serialisers recognise.
pub(super) const RAW_VALUE_TOKEN: &str = "$serde_json::private::RawValue";

/// The same for numbers, in programs that preserve their digits.
const RAW_NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// Returns whether structs of this name hold raw JSON.
pub(super) fn is_raw_token(name: &str) -> bool {
    // The first letter tells names of `serde_json` from others.
    name.starts_with('$') && (name == RAW_VALUE_TOKEN || name == RAW_NUMBER_TOKEN)
}

impl RawJson {
    /// Encodes `value`.
    ///
    /// # Errors
    ///
    /// Returns an error if `value` cannot be serialised, or has a map key that
    /// is not a string.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let mut out = Vec::with_capacity(128);
        write::append(&mut out, value)?;
        // Only a value that writes its own JSON can have written anything else.
        let json = String::from_utf8(out).map_err(serde_json::Error::custom)?;
        Ok(Self(Repr::Owned(json.into_boxed_str())))
    }

    /// Creates raw JSON from a string, which must be one JSON value.
    ///
    /// # Errors
    ///
    /// Returns an error if the string is not JSON.
    pub fn from_string(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self::from_checked)
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        match &self.0 {
            Repr::Owned(json) => json,
            Repr::Shared(json) => json,
        }
    }

    /// Makes clones cheap, for values that are sent often.
    #[must_use]
    pub fn into_shared(self) -> Self {
        match self.0 {
            Repr::Owned(json) => Self(Repr::Shared(json.into())),
            Repr::Shared(_) => self,
        }
    }

    fn from_checked(value: Box<RawValue>) -> Self {
        Self(Repr::Owned(value.into()))
    }

    /// Decodes the JSON into a type.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON does not have the shape of `T`.
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
        let mut raw_struct = serializer.serialize_struct(RAW_VALUE_TOKEN, 1)?;
        raw_struct.serialize_field(RAW_VALUE_TOKEN, self.get())?;
        raw_struct.end()
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from_checked)
    }
}
