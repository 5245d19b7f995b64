//! Deserialization of arguments that rejects duplicate member names.
//!
//! JSON does not define which of two members with the same name counts. An
//! intermediary that inspects arguments, such as a proxy with rules, may have
//! based its decision on the other one.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// A value without duplicate member names, at any depth.
pub(super) struct UniqueKeyValue(pub(super) Value);

impl<'de> Deserialize<'de> for UniqueKeyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeyVisitor).map(Self)
    }
}

struct UniqueKeyVisitor;

impl<'de> Visitor<'de> for UniqueKeyVisitor {
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
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(UniqueKeyValue(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(read.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if read.contains_key(&name) {
                return Err(A::Error::custom(DuplicateKey(&name)));
            }
            let UniqueKeyValue(member) = members.next_value()?;
            read.insert(name, member);
        }
        Ok(read.into())
    }
}

/// The error for a duplicate member name, of which it shows the first 40
/// characters.
struct DuplicateKey<'a>(&'a str);

impl fmt::Display for DuplicateKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start: String = self.0.chars().take(40).collect();
        write!(f, "duplicate member {start:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are() {
        let text =
            r#"[null, true, -1, 18446744073709551615, 1.5, "a\n", {"a": {"a": []}, "b": 1e3}]"#;
        let expected: Value = serde_json::from_str(text).expect("it is JSON");
        let UniqueKeyValue(read) = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(read, expected);
    }

    #[test]
    fn a_name_that_is_there_twice_is_a_fault_wherever_it_is() {
        for text in [
            r#"{"a":1,"b":2,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[{"x":[{"a":1,"a":2}]}]"#,
        ] {
            let fault = serde_json::from_str::<UniqueKeyValue>(text).err();
            let fault = fault.expect("it is refused").to_string();
            assert!(fault.contains("duplicate member \"a\""), "{fault}");
        }
        let long = "x".repeat(100_000);
        let text = format!(r#"{{"{long}":1,"{long}":2}}"#);
        let fault = serde_json::from_str::<UniqueKeyValue>(&text).err();
        assert!(fault.expect("it is refused").to_string().len() < 200);
    }
}
