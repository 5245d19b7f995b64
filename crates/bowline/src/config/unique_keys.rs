//! JSON without duplicate keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::report::member_path;

/// A value, and whether it has duplicate keys. Some programs use the first of two such
/// keys and some the last, so users could see one value and run another.
#[derive(Debug, PartialEq)]
pub(super) struct StrictValue {
    pub(super) value: Value,
    /// The path of a duplicate key, if there is one.
    pub(super) duplicate_key: Option<String>,
}

impl StrictValue {
    fn new(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            duplicate_key: None,
        }
    }
}

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = StrictValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<StrictValue, E> {
        Ok(StrictValue::new(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<StrictValue, E> {
        Ok(StrictValue::new(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<StrictValue, E> {
        Ok(StrictValue::new(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<StrictValue, E> {
        Ok(StrictValue::new(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<StrictValue, E> {
        Ok(StrictValue::new(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<StrictValue, E> {
        Ok(StrictValue::new(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<StrictValue, A::Error> {
        let (mut items, mut duplicate_key) = (Vec::new(), None);
        while let Some(item) = seq.next_element::<StrictValue>()? {
            let nested = item
                .duplicate_key
                .map(|path| format!("[{}].{path}", items.len()));
            duplicate_key = duplicate_key.or(nested);
            items.push(item.value);
        }
        let value = Value::Array(items);
        Ok(StrictValue {
            value,
            duplicate_key,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StrictValue, A::Error> {
        let (mut members, mut duplicate_key) = (Map::new(), None);
        while let Some((key, item)) = map.next_entry::<String, StrictValue>()? {
            let nested = item
                .duplicate_key
                .map(|path| format!("{}.{path}", member_path("", &key)));
            duplicate_key = duplicate_key.or(nested);
            if members.contains_key(&key) {
                duplicate_key = duplicate_key.or_else(|| Some(member_path("", &key)));
            }
            members.insert(key, item.value);
        }
        let value = Value::Object(members);
        Ok(StrictValue {
            value,
            duplicate_key,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_stands_twice_is_found_at_any_depth() {
        let cases = [
            (r#"{"a": 1, "b": [{"a": 1}]}"#, None),
            (r#"{"a": 1, "a": 1}"#, Some("a")),
            (r#"{"b": {"a": 1, "\u0061": 2}}"#, Some("b.a")),
            (r#"{"b": [1, {"a": 1, "a": 2}]}"#, Some("b.[1].a")),
        ];
        for (text, expected) in cases {
            let strict: StrictValue = serde_json::from_str(text).expect("it is JSON");
            assert_eq!(strict.duplicate_key.as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_value_is_the_same(text in r#"\{("[a-c]":(1|-2|0\.5|true|null|"x"|\[1,\{\}\]|\{"y":2\}),){0,4}"z":0\}"#) {
            let strict: StrictValue = serde_json::from_str(&text).expect("it is JSON");
            let value: Value = serde_json::from_str(&text).expect("it is JSON");
            prop_assert_eq!(strict.value, value);
        }
    }
}
