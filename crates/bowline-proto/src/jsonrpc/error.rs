//! The error object of a JSON-RPC error response.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, IgnoredAny, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::RawJson;

/// An error from a peer, as sent on the wire.
///
/// ```
/// use bowline_proto::jsonrpc::{ErrorObject, code};
///
/// let error: ErrorObject = serde_json::from_str(
///     r#"{"code": -32602, "message": "Unknown tool: frobnicate"}"#,
/// ).unwrap();
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// assert_eq!(error.to_string(), "Unknown tool: frobnicate (code -32602)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorObject {
    /// The kind of error; see [`code`](super::code).
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// Additional data from the peer, verbatim.
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Attaches `data` to the error.
    #[must_use]
    pub fn with_data(mut self, data: RawJson) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

impl Serialize for ErrorObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ErrorObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ErrorVisitor)
    }
}

struct ErrorVisitor;

impl<'de> Visitor<'de> for ErrorVisitor {
    type Value = ErrorObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC error object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ErrorObject, A::Error> {
        let (mut code, mut message, mut data) = (None, None, None);
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match key.as_ref() {
                "code" => code = Some(map.next_value()?),
                "message" => message = Some(map.next_value()?),
                "data" => data = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(ErrorObject {
            code: code.ok_or_else(|| de::Error::missing_field("code"))?,
            message: message.ok_or_else(|| de::Error::missing_field("message"))?,
            data,
        })
    }
}
