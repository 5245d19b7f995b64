//! A JSON value as far as a header can represent it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// The largest integer that every JSON parser represents exactly.
pub(super) const MAX_INTEGER: i64 = (1 << 53) - 1;

/// A value to compare with a header, borrowed if possible.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'de> {
    Null,
    Bool(bool),
    Integer(i64),
    String(Cow<'de, str>),
    /// An object, an array, a fraction, or an integer out of range.
    Other,
}

impl Scalar<'_> {
    fn integer(number: Option<i64>) -> Self {
        number
            .filter(|number| (-MAX_INTEGER..=MAX_INTEGER).contains(number))
            .map_or(Self::Other, Self::Integer)
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::integer(Some(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::integer(i64::try_from(value).ok()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar<'de>, E> {
        // JSON Schema counts 42.0 as an integer, so we must too.
        const LIMIT: f64 = MAX_INTEGER as f64;
        let whole = value.fract() == 0.0 && (-LIMIT..=LIMIT).contains(&value);
        Ok(Scalar::integer(whole.then_some(value as i64)))
    }

    fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::String(Cow::Borrowed(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// Looks a key up while it is parsed, so no key is allocated.
pub(super) struct KeyLookup<F>(pub(super) F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for KeyLookup<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for KeyLookup<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<T, E> {
        Ok((self.0)(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_integers_where_every_reader_agrees() {
        let read = |text| serde_json::from_str::<Scalar<'_>>(text).unwrap();
        assert_eq!(read("42"), Scalar::Integer(42));
        assert_eq!(read("42.0"), Scalar::Integer(42));
        assert_eq!(read("-0.0"), Scalar::Integer(0));
        assert_eq!(read("1e2"), Scalar::Integer(100));
        assert_eq!(read("9007199254740991"), Scalar::Integer(MAX_INTEGER));
        assert_eq!(read("-9007199254740991"), Scalar::Integer(-MAX_INTEGER));
        for text in [
            "9007199254740992",
            "-9007199254740992",
            "9007199254740992.0",
            "-9223372036854775808",
            "18446744073709551615",
            "1e300",
            "0.5",
        ] {
            assert_eq!(read(text), Scalar::Other, "{text}");
        }
    }
}
