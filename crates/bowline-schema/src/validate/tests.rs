//! Tests against a complete implementation.

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{ValidationError, Validator};

/// Both must report the same errors, in the same words; the order may differ.
fn assert_agrees(schema: &Value, value: &Value) {
    let reference = jsonschema::draft202012::new(schema).expect("a schema");
    let validator = Validator::new(schema).unwrap_or_else(|why| panic!("{schema}: {why}"));
    let mut expected: Vec<ValidationError> = reference
        .iter_errors(value)
        .map(|fault| ValidationError {
            pointer: fault.instance_path().to_string(),
            message: fault.to_string(),
        })
        .collect();
    let mut found = validator.errors(value);
    assert_eq!(
        validator.is_valid(value),
        found.is_empty(),
        "{schema} and {value}"
    );
    let order = |fault: &ValidationError| (fault.pointer.clone(), fault.message.clone());
    expected.sort_by_key(order);
    found.sort_by_key(order);
    assert_eq!(found, expected, "{schema} and {value}");
}

fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2.5),
        json!(-3),
        json!(1e20),
        json!(u64::MAX),
        json!(""),
        json!("a"),
        json!("ab1"),
        json!("äöü"),
        json!([]),
        json!([1]),
        json!([1, "a"]),
        json!([1, 1.0, 2]),
        json!([{"a": 1}, {"a": 1}]),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x", "b": [1, "y"]}),
        json!({"a/b~c": 1, "b": {"a": {"a": 3}}}),
        json!({"a": 1, "b": 2, "c": 3}),
    ]
}

fn check(schema: &Value) {
    for value in values() {
        assert_agrees(schema, &value);
    }
}

#[test]
fn demands_on_the_value_itself() {
    for schema in [
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "integer"}),
        json!({"type": ["string", "null"]}),
        json!({"const": 1}),
        json!({"const": {"a": 1.0}}),
        json!({"enum": [1, "a"]}),
        json!({"enum": [1, "a", null, [], {}]}),
        json!({"minimum": 1, "maximum": 2}),
        json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2.5}),
        json!({"multipleOf": 2}),
        json!({"multipleOf": 0.5}),
        json!({"minLength": 1, "maxLength": 2}),
        json!({"pattern": "^[a-z]+\\d$"}),
        json!({"minItems": 1, "maxItems": 2, "uniqueItems": true}),
        json!({"minProperties": 1, "maxProperties": 1}),
        json!({"required": ["a", "b"]}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"type": "string", "format": "date", "description": "no demand"}),
    ] {
        check(&schema);
    }
}

#[test]
fn demands_by_other_schemas() {
    let number = json!({"type": "number"});
    let text = json!({"type": "string"});
    for schema in [
        json!({"allOf": [number, {"minimum": 2}]}),
        json!({"anyOf": [number, text]}),
        json!({"oneOf": [number, {"minimum": 2}]}),
        json!({"not": number}),
        json!({"if": number, "then": {"minimum": 1}, "else": text}),
        json!({"items": number}),
        json!({"prefixItems": [text], "items": number}),
        json!({"contains": text}),
        json!({"properties": {"a": number, "a/b~c": text, "b": {"items": text}}}),
        json!({"patternProperties": {"^a": text}}),
        json!({"properties": {"a": {}}, "additionalProperties": number}),
        json!({"properties": {"a": {}}, "patternProperties": {"b": {}}, "additionalProperties": false}),
        json!({"dependentSchemas": {"b": {"required": ["c"]}}}),
        json!({"$ref": "#/$defs/it", "$defs": {"it": {"properties": {"b": {"$ref": "#"}}, "type": "object"}}}),
        json!({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": number}}),
        json!({"$ref": "#it", "properties": {"default": {"anyOf": [{}, {"$anchor": "it", "type": "number"}]}}}),
        json!({"$ref": "#it", "default": {"$anchor": "it"}, "$defs": {"a/b": {"$anchor": "it", "type": "string"}}}),
        json!({"allOf": [{"properties": {"a": number}}], "unevaluatedProperties": false}),
        json!({"anyOf": [{"properties": {"a": number}}, {"properties": {"b": text}}], "unevaluatedProperties": false}),
        json!({"allOf": [{"unevaluatedProperties": true}], "unevaluatedProperties": false}),
    ] {
        check(&schema);
    }
}

#[test]
fn members_that_nothing_else_looked_at() {
    let schema = json!({
        "if": {"required": ["b"]},
        "then": {"properties": {"b": {}}},
        "unevaluatedProperties": {"type": "string"},
    });
    let validator = Validator::new(&schema).expect("a schema");
    for (value, is_valid) in [
        (json!({"a": "x"}), true),
        (json!({"a": 1}), false),
        (json!({"a": "x", "b": 1}), true),
        (json!({"a": 1, "b": 1}), false),
    ] {
        assert_eq!(validator.is_valid(&value), is_valid, "{value}");
    }
}

#[test]
fn how_many_items_may_match() {
    let schema = json!({"contains": {"type": "number"}, "minContains": 2, "maxContains": 3});
    let validator = Validator::new(&schema).expect("a schema");
    for (items, is_valid) in [(0, false), (1, false), (2, true), (3, true), (4, false)] {
        let value = json!(vec![7; items]);
        assert_eq!(validator.is_valid(&value), is_valid, "{value}");
    }
}

#[test]
fn names_of_members() {
    let validator = Validator::new(&json!({"propertyNames": {"maxLength": 1}})).expect("a schema");
    assert!(validator.is_valid(&json!({"a": 1})));
    assert!(!validator.is_valid(&json!({"ab": 1})));
}

#[test]
fn what_is_no_schema_is_refused() {
    for schema in [
        json!(7),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"minimum": "1"}),
        json!({"minLength": -1}),
        json!({"multipleOf": 0}),
        json!({"pattern": "("}),
        json!({"pattern": 7}),
        json!({"uniqueItems": 1}),
        json!({"required": "a"}),
        json!({"enum": 7}),
        json!({"properties": []}),
        json!({"properties": {"a": 7}}),
        json!({"anyOf": []}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "other.json"}),
        json!({"$ref": "#nobody"}),
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}),
        json!({"$ref": 7}),
        json!({"$dynamicRef": "#a"}),
        json!({"$recursiveRef": "#"}),
        json!({"dependencies": {"a": 7}}),
    ] {
        Validator::new(&schema).expect_err(&schema.to_string());
    }
}

#[test]
fn a_long_chain_of_references_ends() {
    let link = |at: usize| {
        (
            format!("d{at}"),
            json!({"$ref": format!("#/$defs/d{}", at + 1)}),
        )
    };
    for (length, is_valid) in [(100, true), (10_000, false)] {
        let mut defs: serde_json::Map<_, _> = (0..length).map(link).collect();
        defs.insert(format!("d{length}"), json!({"type": "string"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": defs});
        let validator = Validator::new(&schema).expect("a schema");
        assert_eq!(validator.is_valid(&json!("a")), is_valid);
        assert!(!validator.is_valid(&json!(7)));
        let errors = validator.errors(&json!("a"));
        let is_too_much = errors
            .iter()
            .any(|error| error.message.contains("too much to check"));
        assert_eq!(is_too_much, !is_valid, "{errors:?}");
    }
}

#[test]
fn what_is_deep_is_checked_or_refused() {
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let items = |inner, _| Value::Object([("items".to_owned(), inner)].into_iter().collect());
    let deep = (0..2000).fold(json!({"type": "integer"}), items);
    let deep = Validator::new(&deep).expect("a schema");
    assert!(deep.is_valid(&nested(100)));
    assert!(!deep.is_valid(&nested(1000)));
    let recursive = Validator::new(&json!({"items": {"$ref": "#"}})).expect("a schema");
    assert!(recursive.is_valid(&nested(128)));
    assert!(!recursive.is_valid(&nested(1000)));
}

#[test]
fn arrays_of_older_drafts() {
    let schema = json!({"items": [{"type": "string"}], "additionalItems": {"type": "number"}});
    let validator = Validator::new(&schema).expect("a schema");
    assert!(validator.is_valid(&json!(["a", 1])));
    assert!(!validator.is_valid(&json!([1])));
    assert!(!validator.is_valid(&json!(["a", "b"])));
}

fn value() -> impl Strategy<Value = Value> {
    select(values()).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let own = select(vec![
        json!({"type": "integer"}),
        json!({"type": ["object", "string"]}),
        json!({"minimum": 1}),
        json!({"maxLength": 2}),
        json!({"required": ["a"]}),
        json!({"minItems": 1}),
        json!(false),
        json!({}),
    ]);
    own.prop_recursive(3, 12, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..3);
        let named = prop::collection::btree_map("[abc]", inner.clone(), 1..3);
        prop_oneof![
            some.clone().prop_map(|it| json!({"allOf": it})),
            some.clone().prop_map(|it| json!({"anyOf": it})),
            some.prop_map(|it| json!({"oneOf": it})),
            inner.clone().prop_map(|it| json!({"not": it})),
            inner.clone().prop_map(|it| json!({"type": "array", "items": it})),
            named
                .clone()
                .prop_map(|it| json!({"type": "object", "properties": it})),
            (named, inner).prop_map(
                |(it, rest)| json!({"properties": it, "additionalProperties": rest, "required": ["a"]})
            ),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_and_value(schema in schema(), value in value()) {
        let reference = jsonschema::draft202012::new(&schema).expect("a schema");
        let validator = Validator::new(&schema).expect("a schema");
        prop_assert_eq!(validator.is_valid(&value), reference.is_valid(&value));
        prop_assert_eq!(validator.errors(&value).is_empty(), reference.is_valid(&value));
    }
}
