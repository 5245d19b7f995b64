//! Named strings, deserialized into a type of the author.
//!
//! Variables of URIs and arguments of prompts are strings on the wire. A field
//! that is a number or a boolean is parsed from its string.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeOwned, Error as _, IntoDeserializer, Visitor,
        value::{Error, MapDeserializer},
    },
    forward_to_deserialize_any,
};

use crate::proto::model::DecodeError;

/// Strings by name.
///
/// Collecting into the map and consuming it would bring code for sorting and
/// merging into every server, so this type only uses `insert`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct StringMap {
    by_name: BTreeMap<String, String>,
}

impl StringMap {
    /// Returns the string under a name.
    pub(crate) fn get(&self, name: &str) -> Option<&String> {
        self.by_name.get(name)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns all strings, sorted by name.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &String)> {
        self.by_name.iter()
    }

    /// Sets the string under a name.
    pub(crate) fn insert(&mut self, name: String, text: String) {
        self.by_name.insert(name, text);
    }

    /// Keeps the entries for which the predicate returns `true`.
    pub(crate) fn retain(&mut self, predicate: impl Fn(&String, &String) -> bool) {
        let all = std::mem::take(&mut self.by_name);
        let predicate = |(name, text): &(String, String)| predicate(name, text);
        *self = all.into_iter().filter(predicate).collect();
    }
}

impl FromIterator<(String, String)> for StringMap {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(members: I) -> Self {
        let mut map = Self::default();
        for (name, text) in members {
            map.insert(name, text);
        }
        map
    }
}

impl fmt::Debug for StringMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by_name.fmt(f)
    }
}

/// Deserializes strings into a struct, field by field.
///
/// # Errors
///
/// Returns an error if one is missing or does not match its field.
pub(crate) fn deserialize<T: DeserializeOwned>(values: &StringMap) -> Result<T, DecodeError> {
    let values = values
        .iter()
        .map(|(name, text)| (name.as_str(), StringDeserializer(text)));
    serde_path_to_error::deserialize(MapDeserializer::new(values)).map_err(|fault| {
        let path = fault.path().to_string();
        let path = if path == "." { String::new() } else { path };
        DecodeError::new(path, fault.inner().to_string())
    })
}

/// Deserializes one string.
struct StringDeserializer<'a>(&'a str);

impl<'de> IntoDeserializer<'de, Error> for StringDeserializer<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Parses the value from the string.
macro_rules! parsed {
    ($($method:ident => $visit:ident $what:literal),* $(,)?) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                match self.0.parse() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => Err(Error::custom(format_args!("{:?} is not {}", self.0, $what))),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for StringDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text: serde::de::value::StrDeserializer<'_, Error> = self.0.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    parsed! {
        deserialize_bool => visit_bool "true or false",
        deserialize_i8 => visit_i8 "an integer in range",
        deserialize_i16 => visit_i16 "an integer in range",
        deserialize_i32 => visit_i32 "an integer in range",
        deserialize_i64 => visit_i64 "an integer in range",
        deserialize_i128 => visit_i128 "an integer in range",
        deserialize_u8 => visit_u8 "an integer in range",
        deserialize_u16 => visit_u16 "an integer in range",
        deserialize_u32 => visit_u32 "an integer in range",
        deserialize_u64 => visit_u64 "an integer in range",
        deserialize_u128 => visit_u128 "an integer in range",
        deserialize_f32 => visit_f32 "a number",
        deserialize_f64 => visit_f64 "a number",
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        Km,
        Miles,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Id(u16);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Trip {
        city: String,
        days: Option<u8>,
        unit: Unit,
        #[serde(default)]
        fast: bool,
        id: Id,
        price: f64,
    }

    fn texts(members: &[(&str, &str)]) -> StringMap {
        let members = members.iter();
        members
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn fields_are_read_from_their_texts() {
        let all = [
            ("city", "12"),
            ("days", "3"),
            ("unit", "km"),
            ("fast", "true"),
            ("id", "7"),
            ("price", "1.5"),
            ("more", "is ignored"),
        ];
        let trip: Trip = deserialize(&texts(&all)).unwrap();
        let expected = Trip {
            city: "12".to_owned(),
            days: Some(3),
            unit: Unit::Km,
            fast: true,
            id: Id(7),
            price: 1.5,
        };
        assert_eq!(trip, expected);
    }

    #[test]
    fn faults_name_the_field() {
        let base = [
            ("city", "a"),
            ("unit", "miles"),
            ("id", "1"),
            ("price", "2"),
        ];
        let trip: Trip = deserialize(&texts(&base)).unwrap();
        assert_eq!(
            (trip.days, trip.fast, trip.unit),
            (None, false, Unit::Miles)
        );
        for (name, text, message) in [
            ("days", "300", "days: \"300\" is not an integer in range"),
            ("fast", "yes", "fast: \"yes\" is not true or false"),
            (
                "unit",
                "feet",
                "unit: unknown variant `feet`, expected `km` or `miles`",
            ),
        ] {
            let mut texts = texts(&base);
            texts.insert(name.to_owned(), text.to_owned());
            assert_eq!(
                deserialize::<Trip>(&texts).unwrap_err().to_string(),
                message
            );
        }
        let error = deserialize::<Trip>(&texts(&base[1..])).unwrap_err();
        assert_eq!(error.to_string(), "missing field `city`");
    }
}
