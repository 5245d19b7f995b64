//! The types of JSON values.

use std::fmt;

use serde_json::Value;

use super::equal::is_integer;

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction, however it is written.
    Integer,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// All types, sorted by name.
    pub(super) const ALL: [Self; 7] = [
        Self::Array,
        Self::Boolean,
        Self::Integer,
        Self::Null,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    /// Returns the name of the type, as in a schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Parses the name of a type.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether a value has the type.
    pub(crate) fn matches(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer, Value::Number(number)) => is_integer(number),
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_))
            | (Self::Array, Value::Array(_))
            | (Self::Object, Value::Object(_)) => true,
            _ => false,
        }
    }
}

/// A set of types, with one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    /// All types.
    pub(super) const ANY: Self = Self(u8::MAX);

    /// Returns the types, sorted by name.
    pub(super) fn iter(self) -> impl Iterator<Item = JsonType> {
        let is_member = move |kind: &JsonType| self.has(*kind);
        JsonType::ALL.into_iter().filter(is_member)
    }

    /// Returns whether a value has one of the types.
    #[inline]
    pub(super) fn matches(self, value: &Value) -> bool {
        let kind = match value {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        };
        self.has(kind) || self.has(JsonType::Integer) && JsonType::Integer.matches(value)
    }

    #[inline]
    fn has(self, kind: JsonType) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// The same order as that of the variants of values, so that there is nothing to
    /// translate.
    #[inline]
    fn bit(kind: JsonType) -> u8 {
        1 << match kind {
            JsonType::Null => 0,
            JsonType::Boolean => 1,
            JsonType::Number => 2,
            JsonType::String => 3,
            JsonType::Array => 4,
            JsonType::Object => 5,
            JsonType::Integer => 6,
        }
    }
}

impl FromIterator<JsonType> for Types {
    fn from_iter<I: IntoIterator<Item = JsonType>>(types: I) -> Self {
        let bits = types.into_iter().map(Self::bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
