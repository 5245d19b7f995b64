//! Tests against a complete implementation.

use jsonschema::error::ValidationErrorKind as ReferenceKind;
use serde_json::{Value, json};

use crate::validate::Validator;

/// Both must report the same errors, in the same words; the order may differ. Beyond
/// that we suggest names, report unknown members one by one, explain alternatives, and
/// leave out what is only not evaluated because of another error.
fn assert_agrees(schema: &Value, value: &Value) {
    let reference = jsonschema::draft202012::new(schema).expect("a schema");
    let validator = Validator::new(schema).unwrap_or_else(|why| panic!("{schema}: {why}"));
    let found = validator.errors(value);
    let is_valid = reference.is_valid(value);
    assert_eq!(validator.is_valid(value), is_valid, "{schema} and {value}");
    assert_eq!(found.is_empty(), is_valid, "{schema} and {value}");
    let (mut expected, mut is_explained) = (Vec::new(), false);
    for error in reference.iter_errors(value) {
        let mut add = |message| expected.push((error.instance_path().to_string(), message));
        match error.kind() {
            ReferenceKind::AnyOf { .. } | ReferenceKind::OneOfNotValid { .. } => {
                is_explained = true;
            }
            ReferenceKind::AdditionalProperties { unexpected } => {
                unexpected
                    .iter()
                    .for_each(|name| add(unexpected_message("Additional", name)));
            }
            ReferenceKind::UnevaluatedProperties { unexpected } => {
                unexpected
                    .iter()
                    .for_each(|name| add(unexpected_message("Unevaluated", name)));
            }
            _ => add(error.to_string()),
        }
    }
    let message = |message: &str| {
        message
            .split("; did you mean")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let mut found: Vec<_> = found
        .into_iter()
        .map(|error| (error.pointer.clone(), message(&error.message)))
        .collect();
    let is_artifact =
        |(_, message): &(String, String)| message.starts_with("Unevaluated properties");
    if !expected.iter().all(is_artifact) {
        expected.retain(|error| !is_artifact(error));
        found.retain(|error| !is_artifact(error));
    }
    expected.sort();
    found.sort();
    if !is_explained {
        assert_eq!(found, expected, "{schema} and {value}");
    }
}

fn unexpected_message(kind: &str, name: &str) -> String {
    format!("{kind} properties are not allowed ('{name}' was unexpected)")
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
fn arrays_of_older_drafts() {
    let schema = json!({"items": [{"type": "string"}], "additionalItems": {"type": "number"}});
    let validator = Validator::new(&schema).expect("a schema");
    assert!(validator.is_valid(&json!(["a", 1])));
    assert!(!validator.is_valid(&json!([1])));
    assert!(!validator.is_valid(&json!(["a", "b"])));
}
