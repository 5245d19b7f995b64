//! Request ids and progress tokens, whose JSON type is part of their identity.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

/// A JSON-RPC request id: an integer of up to 64 bits, or a string.
///
/// `1` and `"1"` are different ids. Progress tokens and subscription ids have
/// the same shape and use this type too.
///
/// ```
/// use bowline_proto::jsonrpc::RequestId;
///
/// let number: RequestId = serde_json::from_str("1").unwrap();
/// let string: RequestId = serde_json::from_str("\"1\"").unwrap();
/// assert_ne!(number, string);
/// assert_eq!(serde_json::to_string(&string).unwrap(), "\"1\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// An integer between `i64::MIN` and `u64::MAX`.
    Number(i128),
    /// A string, kept verbatim.
    String(Box<str>),
}

impl RequestId {
    /// Returns the id as a number that we could have issued: we only issue
    /// unsigned integers.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::String(_) => None,
        }
    }
}

impl From<u64> for RequestId {
    fn from(id: u64) -> Self {
        Self::Number(id.into())
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Number(id.into())
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.into())
    }
}

impl From<String> for RequestId {
    fn from(id: String) -> Self {
        Self::String(id.into())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::String(string) => write!(f, "{string:?}"),
        }
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(unsigned), _) => serializer.serialize_u64(unsigned),
                (_, Ok(signed)) => serializer.serialize_i64(signed),
                _ => serializer.serialize_i128(*number),
            },
            Self::String(string) => serializer.serialize_str(string),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer of up to 64 bits or a string")
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<RequestId, E> {
        Ok(id.into())
    }

    fn visit_i64<E: de::Error>(self, id: i64) -> Result<RequestId, E> {
        Ok(id.into())
    }

    fn visit_str<E: de::Error>(self, id: &str) -> Result<RequestId, E> {
        Ok(id.into())
    }

    fn visit_string<E: de::Error>(self, id: String) -> Result<RequestId, E> {
        Ok(id.into())
    }
}
