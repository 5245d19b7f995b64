//! JSON in which no member may occur twice: one of them would be dropped.

use std::fmt;

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Deserializer as JsonDeserializer, Map, Number, Value};

/// Why a text is not accepted.
#[derive(Debug, PartialEq)]
pub(super) enum StrictJsonError {
    /// It is not JSON.
    NotJson,
    /// An object has two members of this name.
    DuplicateMember(String),
}

/// Parses JSON.
pub(super) fn parse(text: &str) -> Result<Value, StrictJsonError> {
    let mut duplicate = None;
    let mut json = JsonDeserializer::from_str(text);
    let value = ValueSeed(&mut duplicate).deserialize(&mut json);
    match (value, json.end(), duplicate) {
        (Ok(value), Ok(()), None) => Ok(value),
        (Ok(_), Ok(()), Some(name)) => Err(StrictJsonError::DuplicateMember(name)),
        _ => Err(StrictJsonError::NotJson),
    }
}

/// Reads a value, and keeps the name of a duplicate member.
struct ValueSeed<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(ValueSeed(&mut *self.0))? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(ValueSeed(&mut *self.0))?;
            if members.contains_key(&name) {
                self.0.get_or_insert(name);
            } else {
                members.insert(name, value);
            }
        }
        Ok(members.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{StrictJsonError, parse};

    #[test]
    fn json_is_json_and_nothing_else() {
        for value in [
            json!({"z": 1, "a": [true, null, "x\n", -2.5, 1e300, u64::MAX, i64::MIN], "m": {}}),
            json!("text"),
            json!(null),
        ] {
            assert_eq!(parse(&value.to_string()), Ok(value));
        }
        let deep = "[".repeat(100_000);
        for text in ["", "{", "{a: 1}", "1 2", "[1,]", &deep] {
            assert_eq!(parse(text), Err(StrictJsonError::NotJson), "{text}");
        }
    }

    #[test]
    fn a_member_that_occurs_twice_is_found_at_any_depth() {
        let duplicate = |name: &str| Err(StrictJsonError::DuplicateMember(name.to_owned()));
        assert_eq!(parse(r#"{"a": 1, "\u0061": 2}"#), duplicate("a"));
        assert_eq!(parse(r#"[{"b": {"c": 1, "c": 1}}]"#), duplicate("c"));
        assert_eq!(parse(r#"{"a": 1, "a": 2"#), Err(StrictJsonError::NotJson));
    }
}
