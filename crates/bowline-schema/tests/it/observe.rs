//! Schemas that are learned from values, for random values.

use bowline_schema::{Validator, observe::Observer};
use proptest::{prelude::*, sample::select, test_runner::Config};
use serde_json::{Map, Value, json};

/// Names of members. Some look like data, so objects that have them become maps.
const NAMES: [&str; 10] = [
    "id",
    "name",
    "type",
    "properties",
    "additionalProperties",
    "anyOf",
    "items",
    "ada@example.com",
    "12",
    "",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-3_i32..3).prop_map(|whole| json!(f64::from(whole))),
        "[a-z]{0,3}".prop_map(Value::from),
    ]
}

/// An object with so many members that it may be a map.
fn wide() -> impl Strategy<Value = Value> {
    let members = prop::collection::vec(scalar(), 60..70);
    members.prop_map(|values| {
        let members = values.into_iter().enumerate();
        let members = members.map(|(at, value)| (format!("n{at}"), value));
        Value::Object(members.collect())
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![20 => scalar(), 1 => wide()];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        let member = (select(&NAMES[..]), inner.clone());
        let members = prop::collection::vec(member, 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
            members.prop_map(|members| {
                let members = members.into_iter();
                let members = members.map(|(name, value)| (name.to_owned(), value));
                Value::Object(Map::from_iter(members))
            }),
        ]
    });
    // Values are observed to a certain depth only.
    let depth = prop_oneof![20 => Just(0), 1 => 25..40_usize];
    (value, depth, any::<bool>()).prop_map(|(value, depth, is_array)| {
        let wrap = |inner: Value| match is_array {
            true => json!([inner]),
            false => json!({"id": inner}),
        };
        (0..depth).fold(value, |inner, _| wrap(inner))
    })
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(value(), 0..6)
}

fn observed<'a>(values: impl IntoIterator<Item = &'a Value>) -> Value {
    let mut observer = Observer::default();
    values.into_iter().for_each(|value| observer.observe(value));
    observer.to_schema()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_observed_value_is_valid(values in values()) {
        let schema = observed(&values);
        let ours = Validator::new(&schema).expect("a schema");
        let other = jsonschema::draft202012::new(&schema).expect("a schema");
        for value in &values {
            prop_assert!(ours.is_valid(value), "{value} is not valid: {schema:#}");
            prop_assert!(other.is_valid(value), "{value} is not valid elsewhere: {schema:#}");
        }
    }

    #[test]
    fn it_does_not_matter_when_and_in_which_order_values_come(values in values()) {
        let schema = observed(&values);
        prop_assert_eq!(&observed(values.iter().rev()), &schema);
        // From one file to the next.
        let stored = values.iter().fold(json!(true), |stored, value| {
            let mut observer = Observer::from_schema(&stored);
            observer.observe(value);
            observer.to_schema()
        });
        prop_assert_eq!(stored, schema);
    }

    /// Otherwise a schema that allows everything would pass.
    #[test]
    fn a_type_that_was_not_observed_is_not_valid(values in values(), other in value()) {
        let schema = observed(&values);
        let kind = |value: &Value| std::mem::discriminant(value);
        if !values.is_empty() && values.iter().all(|it| kind(it) != kind(&other)) {
            let validator = Validator::new(&schema).expect("a schema");
            prop_assert!(!validator.is_valid(&other), "{other} is valid: {schema:#}");
        }
    }
}
