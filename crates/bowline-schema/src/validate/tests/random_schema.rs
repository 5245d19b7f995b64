//! Random schemas, with most keywords.

use std::fmt;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{select, subsequence},
};
use serde_json::{Map, Value, json};

/// The names of members in schemas and values.
pub(super) const NAMES: [&str; 4] = ["a", "b", "ab", "c"];

/// The definitions that references name.
const DEFINITIONS: [&str; 3] = ["A", "B", "C"];

/// What references name. Most of what refers to the whole is in place, and never ends.
const REFERENCES: [&str; 8] = [
    "#/$defs/A",
    "#/$defs/B",
    "#/$defs/C",
    "#/$defs/A",
    "#/$defs/B",
    "#/$defs/C",
    "#",
    "#root",
];

/// A schema with definitions.
pub(super) fn schema() -> impl Strategy<Value = Value> {
    let definitions = vec(subschema(), DEFINITIONS.len());
    (subschema(), definitions).prop_map(|(root, definitions)| {
        let mut root = match root {
            Value::Object(members) => members,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        let names = DEFINITIONS.map(str::to_owned);
        let definitions = names.into_iter().zip(definitions);
        root.insert("$defs".to_owned(), definitions.collect());
        root.insert("$anchor".to_owned(), json!("root"));
        Value::Object(root)
    })
}

fn subschema() -> BoxedStrategy<Value> {
    let schema = leaf().prop_recursive(4, 24, 4, |inner| {
        let (object, array) = (object_schema(&inner), array_schema(&inner));
        let others = applicators(&inner);
        prop_oneof![
            3 => object.clone().prop_map(Value::Object),
            2 => array.clone().prop_map(Value::Object),
            3 => others.clone().prop_map(Value::Object),
            // Keywords that know nothing of each other, side by side.
            2 => (object, others.clone(), leaf()).prop_map(merge),
            1 => (array, others, leaf()).prop_map(merge),
        ]
    });
    schema.boxed()
}

fn merge((one, other, leaf): (Map<String, Value>, Map<String, Value>, Value)) -> Value {
    let mut all = one;
    all.extend(other);
    // A reference or a type now and then, but seldom what excludes everything else.
    if let Value::Object(leaf) = leaf
        && leaf.contains_key("$ref")
    {
        all.extend(leaf);
    }
    Value::Object(all)
}

fn leaf() -> BoxedStrategy<Value> {
    let reference = select(REFERENCES.to_vec());
    let schema = prop_oneof![
        4 => string_schema(),
        4 => number_schema(),
        2 => reference.prop_map(|it| json!({"$ref": it})),
        4 => select(vec![
            json!({"type": "boolean"}),
            json!({"type": "null"}),
            json!({"type": ["integer", "null"]}),
            json!({"type": ["object", "string"]}),
            json!({"type": "object"}),
            json!({"type": "array"}),
            json!({"type": "object", "default": {}}),
            json!({"type": "integer", "default": 1}),
            json!({"const": 1}),
            json!({"const": "a"}),
            json!({"const": {"a": [1.0]}}),
            json!({"enum": [1, "a", null, [1], {"a": 1}]}),
            json!({"enum": ["ab", "b"]}),
            json!({}),
            json!(true),
        ]),
        1 => Just(json!(false)),
    ];
    schema.boxed()
}

fn string_schema() -> BoxedStrategy<Value> {
    let patterns = vec!["^a", "b$", "^[ab]+$", "[0-9]", ""];
    let formats = vec!["date", "email", "uri", "unheard-of"];
    let schema = keywords(vec![
        always("type", Just("string")),
        optional("minLength", 0..2_u64),
        optional("maxLength", 1..4_u64),
        optional("pattern", select(patterns)),
        optional("format", select(formats)),
        optional("default", Just("a")),
    ]);
    schema.prop_map(Value::Object).boxed()
}

fn number_schema() -> BoxedStrategy<Value> {
    let schema = keywords(vec![
        always("type", select(vec!["integer", "number"])),
        optional("minimum", select(vec![json!(-1), json!(0.5), json!(1)])),
        optional("maximum", select(vec![json!(2), json!(2.5), json!(3)])),
        optional("exclusiveMinimum", select(vec![json!(-2), json!(0)])),
        optional("exclusiveMaximum", select(vec![json!(2), json!(4)])),
        optional("multipleOf", select(vec![json!(1), json!(2), json!(0.5)])),
        optional("default", Just(1)),
    ]);
    schema.prop_map(Value::Object).boxed()
}

fn object_schema(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Map<String, Value>> {
    let names = || subsequence(&NAMES[..], 0..3);
    let by_pattern = (select(vec!["^a", "b"]), inner.clone());
    let by_pattern = by_pattern.prop_map(|(pattern, schema)| json!({pattern: schema}));
    let with_others = (select(&NAMES[..]), names());
    let with_others = with_others.prop_map(|(name, others)| json!({name: others}));
    let of_names = vec![
        json!({"maxLength": 1}),
        json!({"pattern": "^[ab]"}),
        json!({"enum": NAMES}),
    ];
    keywords(vec![
        often("type", Just("object")),
        often("properties", named(inner)),
        often("required", names()),
        optional("default", Just(json!({}))),
        optional("patternProperties", by_pattern),
        optional("additionalProperties", or_false(inner)),
        optional("minProperties", 0..2_u64),
        optional("maxProperties", 2..4_u64),
        optional("propertyNames", select(of_names)),
        optional("dependentRequired", with_others),
        optional("dependentSchemas", named(inner)),
        optional("unevaluatedProperties", or_false(inner)),
    ])
}

fn array_schema(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Map<String, Value>> {
    keywords(vec![
        often("type", Just("array")),
        often("items", inner.clone()),
        optional("prefixItems", vec(inner.clone(), 1..3)),
        optional("contains", inner.clone()),
        optional("minItems", 0..2_u64),
        optional("maxItems", 2..4_u64),
        optional("uniqueItems", any::<bool>()),
        optional("minContains", 0..3_u64),
        optional("maxContains", 1..3_u64),
        optional("unevaluatedItems", or_false(inner)),
    ])
}

/// Keywords that apply schemas to the same value, sometimes several at once.
fn applicators(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Map<String, Value>> {
    let one = |key, value: BoxedStrategy<Value>| keywords(vec![always(key, value)]);
    let some = || vec(inner.clone(), 1..4).prop_map(Value::from).boxed();
    let conditional = keywords(vec![
        always("if", inner.clone()),
        often("then", inner.clone()),
        often("else", inner.clone()),
    ]);
    let any = prop_oneof![
        2 => one("allOf", some()),
        2 => one("anyOf", some()),
        2 => one("oneOf", some()),
        1 => one("anyOf", tagged(inner)),
        1 => one("oneOf", tagged(inner)),
        1 => one("not", inner.clone()),
        2 => conditional,
    ];
    let any = any.boxed();
    let schema = prop_oneof![
        4 => any.clone(),
        1 => (any.clone(), any).prop_map(|(mut one, other)| {
            one.extend(other);
            one
        }),
    ];
    schema.boxed()
}

/// Alternatives that a member tells apart.
fn tagged(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let members = vec(inner.clone(), 1..4);
    let alternatives = members.prop_map(|members| {
        let alternatives = members.into_iter().enumerate().map(|(at, member)| {
            json!({
                "properties": {"c": {"const": at}, "a": member},
                "required": ["c"],
            })
        });
        alternatives.collect()
    });
    alternatives.boxed()
}

fn named(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let members = vec((select(&NAMES[..]), inner.clone()), 1..4);
    let members = members.prop_map(|members| {
        let members = members.into_iter();
        members
            .map(|(name, schema)| (name.to_owned(), schema))
            .collect()
    });
    members.boxed()
}

fn or_false(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![Just(json!(false)), inner.clone()].boxed()
}

/// A keyword, or none.
type Entry = BoxedStrategy<Option<(String, Value)>>;

fn keywords(entries: Vec<Entry>) -> BoxedStrategy<Map<String, Value>> {
    let schema = entries.prop_map(|entries| entries.into_iter().flatten().collect());
    schema.boxed()
}

/// A keyword, one time in four.
fn optional<T: Into<Value> + fmt::Debug>(
    key: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> Entry {
    with_chance(0.25, key, value)
}

/// A keyword, most of the time.
fn often<T: Into<Value> + fmt::Debug>(
    key: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> Entry {
    with_chance(0.8, key, value)
}

fn always<T: Into<Value> + fmt::Debug>(
    key: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> Entry {
    let entry = value.prop_map(move |value| Some((key.to_owned(), value.into())));
    entry.boxed()
}

fn with_chance<T: Into<Value> + fmt::Debug>(
    chance: f64,
    key: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> Entry {
    let entry = value.prop_map(move |value| (key.to_owned(), value.into()));
    prop::option::weighted(chance, entry).boxed()
}
