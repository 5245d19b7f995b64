//! What is written is what `serde_json` writes, whatever the type.

use std::collections::BTreeMap;

use bowline_proto::jsonrpc::{OutgoingMessage, RawJson};
use proptest::prelude::*;
use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::{Value, json, value::RawValue};

use super::text;

fn check<T: Serialize + ?Sized>(value: &T) {
    let theirs = serde_json::to_string(value);
    let ours = RawJson::encode(value);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours.get(), theirs),
        (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string()),
        (ours, theirs) => panic!("{ours:?} is not {theirs:?}"),
    }
}

/// Walks as `#[derive(Serialize)]` would, in ways that few types do.
enum Shape {
    Unit,
    Newtype(&'static str),
    Tuple(u8, char),
    Struct { text: String },
    Bytes(Vec<u8>),
    UnitStruct,
    TupleStruct,
    Skipped,
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{
            SerializeStructVariant as _, SerializeTupleStruct as _, SerializeTupleVariant as _,
        };
        match self {
            Self::Unit => serializer.serialize_unit_variant("Shape", 0, "un\"it"),
            Self::Newtype(text) => serializer.serialize_newtype_variant("Shape", 1, "new", text),
            Self::Tuple(number, letter) => {
                let mut tuple = serializer.serialize_tuple_variant("Shape", 2, "tuple", 2)?;
                tuple.serialize_field(number)?;
                tuple.serialize_field(letter)?;
                tuple.end()
            }
            Self::Struct { text } => {
                let mut fields = serializer.serialize_struct_variant("Shape", 3, "str\nuct", 2)?;
                fields.serialize_field("te\\xt", text)?;
                fields.serialize_field("again", text)?;
                fields.end()
            }
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::UnitStruct => serializer.serialize_unit_struct("Unit"),
            Self::TupleStruct => {
                let mut tuple = serializer.serialize_tuple_struct("Tuple", 2)?;
                tuple.serialize_field(&())?;
                tuple.serialize_field(&Some("x"))?;
                tuple.end()
            }
            Self::Skipped => {
                let mut fields = serializer.serialize_struct("$other", 1)?;
                fields.skip_field("a")?;
                fields.serialize_field("b", &Self::Unit)?;
                fields.end()
            }
        }
    }
}

#[test]
fn every_shape() {
    check(&[
        Shape::Unit,
        Shape::Newtype("\u{7}"),
        Shape::Tuple(7, '"'),
        Shape::Struct {
            text: "é".repeat(70),
        },
        Shape::Bytes(vec![0, 255]),
        Shape::UnitStruct,
        Shape::TupleStruct,
        Shape::Skipped,
    ]);
    let empty: [Value; 3] = [json!({}), json!([]), json!("")];
    check(&empty);
    check(&(i128::MIN, u128::MAX, i64::MIN, u64::MAX, (), None::<u8>));
    check(&(1.5_f64, 0.1_f32, f64::NAN, f32::INFINITY, -0.0, 1e300));
    check(&(i8::MIN, i16::MIN, i32::MIN, u16::MAX, u32::MAX, true, 'ß'));
    check(&format_args!("{}", "displayed\n"));
}

#[test]
fn every_kind_of_key() {
    fn of<K: Serialize + Ord>(key: K) {
        check(&BTreeMap::from([(key, ())]));
    }
    of("a\"b");
    of('\\');
    of(true);
    of(-7_i8);
    of(-7_i16);
    of(-7_i32);
    of(-7_i64);
    of(i128::MIN);
    of(7_u8);
    of(7_u16);
    of(7_u32);
    of(7_u64);
    of(u128::MAX);
    of(Some(1));
    of(None::<u8>);
    of(());
    of([1]);
    of((1, 2));
    of(BTreeMap::<u8, u8>::new());
    for key in [0.5, f64::NAN] {
        check(&Entry(key));
    }
    for key in [0.5, f32::INFINITY] {
        check(&Entry(key));
    }
    check(&Entry(Shape::Unit));
    check(&Entry(Shape::Newtype("")));
    check(&Entry(Shape::Tuple(1, 'a')));
    check(&Entry(Shape::Struct {
        text: String::new(),
    }));
    check(&Entry(Shape::Bytes(vec![])));
    check(&Entry(Shape::UnitStruct));
    check(&Entry(Shape::TupleStruct));
    check(&Entry(Shape::Skipped));
}

/// A map with one entry; floats have no order, so they are no keys of a map.
struct Entry<K>(K);

impl<K: Serialize> Serialize for Entry<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.0, 1)])
    }
}

#[test]
fn raw_json_is_written_as_it_came_by_either() {
    let text = r#"{"a" : [1.50, "\u0061"]}"#;
    let theirs: Box<RawValue> = serde_json::from_str(text).unwrap();
    let ours: RawJson = serde_json::from_str(text).unwrap();
    for value in [&ours, &ours.clone().into_shared()] {
        check(&(value, &theirs));
        assert_eq!(serde_json::to_string(value).unwrap(), text);
        assert_eq!(RawJson::encode(value).unwrap().get(), text);
        assert_eq!(
            serde_json::to_value(value).unwrap(),
            json!({"a": [1.5, "a"]})
        );
        assert_eq!(value.decode::<Value>().unwrap(), json!({"a": [1.5, "a"]}));
    }
    assert_eq!(ours, ours.clone().into_shared());
    assert_eq!(RawJson::encode(&theirs).unwrap().get(), text);
}

#[test]
fn a_value_that_fails_halfway_leaves_a_draft_as_it_was() {
    let mut draft = OutgoingMessage::new("m", &json!({"a": 1})).unwrap();
    let bad = ("text", BTreeMap::from([((), 1)]));
    draft.push("b", &bad).unwrap_err();
    assert_eq!(draft.members(), br#""a":1"#);
}

proptest! {
    #[test]
    fn any_json(text in text::value()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        check(&value);
        let raw: Box<RawValue> = serde_json::from_str(text.trim()).unwrap();
        check(&[&raw]);
    }
}
