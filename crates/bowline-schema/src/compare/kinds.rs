//! Sets of the kinds of values that a schema can tell apart by `type`.

use serde_json::Value;

use crate::validate::equal::is_integer;

/// A set of kinds, one bit each. Numbers are two kinds, with and without a
/// fraction, since `integer` and `number` overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Returns the kinds that a `type` names, or `None` if it is not valid.
    pub(super) fn of_type(value: &Value) -> Option<Self> {
        match value {
            Value::String(name) => Self::of_name(name),
            Value::Array(names) if !names.is_empty() => names
                .iter()
                .map(|name| Self::of_name(name.as_str()?))
                .try_fold(Self::NONE, |all, kinds| Some(all.or(kinds?))),
            _ => None,
        }
    }

    /// Returns the kind of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if is_integer(number) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Returns the set as a number.
    pub(super) fn bits(self) -> usize {
        usize::from(self.0)
    }

    /// Returns each kind.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        let all = (0..7).map(|bit| Self(1 << bit));
        all.filter(move |kind| self.overlaps(*kind))
    }

    /// Names the kinds in the plural.
    pub(super) fn describe(self) -> String {
        let mut names = Vec::new();
        for (kind, name) in [
            (Self::NULL, "null"),
            (Self::BOOLEAN, "booleans"),
            (Self::STRING, "strings"),
            (Self::ARRAY, "arrays"),
            (Self::OBJECT, "objects"),
        ] {
            names.extend(self.overlaps(kind).then_some(name));
        }
        let numbers = self.and(Self::NUMBER);
        names.extend((numbers == Self::NUMBER).then_some("numbers"));
        names.extend((numbers == Self::INTEGER).then_some("integers"));
        names.extend((numbers == Self::FRACTION).then_some("numbers with a fraction"));
        match names.as_slice() {
            [] => "no values".to_owned(),
            [name] => (*name).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }
}
