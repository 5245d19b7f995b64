//! JSON numbers that keep their notation.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use super::{Adapt, WireFeatures};

/// A JSON number: an integer stays an integer, so a bound of `1` is not sent
/// back as `1.0`.
///
/// ```
/// use bowline_proto::model::Number;
///
/// let half: Number = serde_json::from_str("0.5").unwrap();
/// assert_eq!(half.as_f64(), 0.5);
/// assert_eq!(serde_json::to_string(&Number::from(3)).unwrap(), "3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(Repr);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Repr {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl Number {
    /// Returns the nearest double.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest double is the result"
    )]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Unsigned(number) => number as f64,
            Repr::Signed(number) => number as f64,
            Repr::Float(number) => number,
        }
    }

    /// Returns the number as an integer, if it was written as one that fits.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Unsigned(number) => i64::try_from(number).ok(),
            Repr::Signed(number) => Some(number),
            Repr::Float(_) => None,
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(Repr::Unsigned(number))
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(u64::try_from(number).map_or(Repr::Signed(number), Repr::Unsigned))
    }
}

impl From<i32> for Number {
    fn from(number: i32) -> Self {
        i64::from(number).into()
    }
}

impl From<f64> for Number {
    /// JSON has no infinities: such a value is written as `null`.
    fn from(number: f64) -> Self {
        Self(Repr::Float(number))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Unsigned(number) => number.fmt(f),
            Repr::Signed(number) => number.fmt(f),
            Repr::Float(number) => number.fmt(f),
        }
    }
}

impl Adapt for Number {
    fn adapt(&mut self, _: &WireFeatures) {}
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Repr::Unsigned(number) => serializer.serialize_u64(number),
            Repr::Signed(number) => serializer.serialize_i64(number),
            Repr::Float(number) => serializer.serialize_f64(number),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
        Ok(number.into())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Number, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Number, E> {
        Ok(number.into())
    }
}
