//! Options make a validator stricter or more lenient than the draft.

use serde_json::{Value, json};

use crate::validate::{ValidationErrorKind as Kind, Validator, ValidatorOptions};

fn strict() -> ValidatorOptions {
    Validator::options().reject_undeclared_members(true)
}

fn lenient() -> ValidatorOptions {
    Validator::options().accept_missing_defaults(true)
}

#[track_caller]
fn messages(options: ValidatorOptions, schema: &Value, value: &Value) -> Vec<String> {
    let validator = options.compile(schema).expect("a schema");
    let errors = validator.errors(value);
    assert_eq!(errors.is_empty(), validator.is_valid(value), "{errors:?}");
    errors.iter().map(ToString::to_string).collect()
}

/// The names that are not known, in an object with these members.
#[track_caller]
fn unknown(schema: &Value, members: &[&str]) -> Vec<String> {
    let value: Value = members
        .iter()
        .map(|name| ((*name).to_owned(), json!(1)))
        .collect();
    let exact = Validator::new(schema).expect("a schema");
    assert!(exact.is_valid(&value), "{schema} and {value}");
    let validator = strict().compile(schema).expect("a schema");
    let errors = validator.errors(&value);
    assert_eq!(errors.is_empty(), validator.is_valid(&value), "{errors:?}");
    let names = errors.into_iter().map(|error| match error.kind {
        Kind::UnknownMember { name, .. } => name,
        other => panic!("{other:?}"),
    });
    names.collect()
}

#[test]
fn members_that_no_schema_declares_are_refused() {
    let a = json!({"properties": {"a": {}}});
    for schema in [
        a.clone(),
        json!({"$ref": "#/$defs/A", "$defs": {"A": a}}),
        json!({"allOf": [a]}),
        json!({"allOf": [{"$ref": "#/$defs/A"}, {"description": "more"}], "$defs": {"A": a}}),
        json!({"properties": {"a": {}}, "required": ["a"]}),
        json!({"required": ["a"]}),
        json!({"anyOf": [a, {"type": "null"}]}),
        json!({"oneOf": [a, {"type": "string"}]}),
        json!({"properties": {"b": {}}, "allOf": [{"anyOf": [a, {"properties": {"c": {}}}]}]}),
        json!({"if": {"required": ["b"]}, "then": {"properties": {"b": {}}}, "else": a}),
        json!({"properties": {"a": {}}, "not": {"required": ["z"], "properties": {"y": {}}}}),
    ] {
        assert_eq!(unknown(&schema, &["a", "x"]), ["x"], "{schema}");
        assert!(unknown(&schema, &["a"]).is_empty(), "{schema}");
    }
    let nested = json!({"properties": {"at": {"items": {"properties": {"left": {}}}}}});
    assert_eq!(
        messages(
            strict(),
            &nested,
            &json!({"at": [{"left": 1}, {"lfet": 1}], "att": 1})
        ),
        [
            "at /at/1: \"lfet\" is not a known property; did you mean `left`?",
            "at /: \"att\" is not a known property; did you mean `at`?",
        ]
    );
}

#[test]
fn names_of_every_schema_for_the_object_are_known() {
    let schema = json!({
        "properties": {"a": {}},
        "required": ["r"],
        "allOf": [{"properties": {"b": {}}}, {"$ref": "#/$defs/C"}],
        "anyOf": [{"properties": {"d": {}}, "required": ["d"]}, {"properties": {"e": {}}, "required": ["e"]}],
        "dependentSchemas": {"f": {"properties": {"g": {}}}},
        "dependentRequired": {"h": ["i"]},
        "if": {"required": ["j"]}, "then": {"properties": {"k": {}}},
        "$defs": {"C": {"properties": {"c": {}}}},
    });
    let all = ["a", "r", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    assert!(unknown(&schema, &all).is_empty());
    assert_eq!(unknown(&schema, &[&all[..], &["l"]].concat()), ["l"]);
}

#[test]
fn schemas_that_take_more_do() {
    for open in [
        json!({}),
        json!(true),
        json!({"type": "object"}),
        json!({"properties": {}}),
        json!({"properties": {"a": {}}, "additionalProperties": true}),
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}),
        json!({"properties": {"a": {}}, "patternProperties": {"^m": {}}}),
        json!({"properties": {"a": {}}, "unevaluatedProperties": true}),
        json!({"properties": {"a": {}}, "allOf": [{"additionalProperties": true}]}),
        json!({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}, {"minProperties": 1}]}),
        json!({"anyOf": [{"properties": {"a": {}}}, {"type": "object"}]}),
    ] {
        assert!(unknown(&open, &["a", "more"]).is_empty(), "{open}");
    }
    // An alternative that takes more does not help one that is meant instead.
    let schema = json!({"anyOf": [
        {"properties": {"kind": {"const": 1}}, "required": ["kind"]},
        {"properties": {"kind": {"const": 2}}, "required": ["kind"], "additionalProperties": true},
    ]});
    assert_eq!(unknown(&schema, &["kind", "more"]), ["more"]);
}

#[test]
fn what_the_schema_forbids_itself_is_reported_once() {
    let schema = json!({"properties": {"a": {}}, "additionalProperties": false});
    assert_eq!(
        messages(strict(), &schema, &json!({"more": 1})),
        ["at /: Additional properties are not allowed ('more' was unexpected)"]
    );
}

#[test]
fn conditions_are_judged_without_options() {
    let only_a = json!({"properties": {"a": {"const": 1}}});
    let schema = json!({
        "properties": {"a": {}, "b": {}, "list": {"contains": only_a}},
        "if": only_a, "then": {"required": ["b"]},
        "not": {"properties": {"a": {"const": 2}}, "required": ["a"]},
    });
    assert_eq!(
        messages(strict(), &schema, &json!({"a": 1})),
        ["at /: \"b\" is a required property"]
    );
    assert_eq!(
        messages(strict(), &schema, &json!({"a": 2, "b": 1})).len(),
        1
    );
    let more = json!({"a": 1, "b": 1, "list": [{"a": 1, "more": 1}]});
    assert!(messages(strict(), &schema, &more).is_empty());

    let inner = json!({"properties": {"x": {"const": 1}}, "required": ["x"]});
    let condition = json!({"properties": {"at": inner}, "required": ["at"]});
    let value = json!({"at": {"x": 1, "more": 1}});
    for schema in [
        json!({"properties": {"at": {}}, "not": condition}),
        json!({"properties": {"at": {}}, "if": condition, "then": false}),
        json!({"properties": {"at": {"contains": {}}}, "if": {"not": condition}, "else": false}),
    ] {
        assert_eq!(messages(strict(), &schema, &value).len(), 1, "{schema}");
    }
}

#[test]
fn what_has_a_default_may_be_left_out() {
    let schema = json!({
        "properties": {
            "level": {"enum": ["info", "error"], "default": "info"},
            "all": {"type": ["boolean", "null"], "default": null},
            "mode": {"$ref": "#/$defs/Mode"},
            "file": {"type": "string"},
            "more": {"properties": {"x": {"default": 1}}, "required": ["x"]},
        },
        "required": ["level", "all", "mode", "file"],
        "allOf": [{"properties": {"size": {"default": 1}}}, {"required": ["size", "level"]}],
        "$defs": {"Mode": {"type": "string", "default": "fast"}},
    });
    assert!(messages(lenient(), &schema, &json!({"file": "a", "more": {}})).is_empty());
    assert_eq!(
        messages(lenient(), &schema, &json!({})),
        ["at /: \"file\" is a required property"]
    );
    assert_eq!(messages(Validator::options(), &schema, &json!({})).len(), 5);
}

#[test]
fn a_default_does_not_make_alternatives_ambiguous() {
    let schema = json!({"oneOf": [
        {"properties": {"x": {"type": "integer"}}, "required": ["x"]},
        {"properties": {"y": {"type": "integer", "default": 1}}, "required": ["y"]},
    ]});
    for value in [json!({"x": 1}), json!({"y": 1}), json!({})] {
        assert!(messages(lenient(), &schema, &value).is_empty(), "{value}");
    }
    let both = messages(lenient(), &schema, &json!({"x": 1, "y": 1}));
    assert!(both[0].contains("more than one"), "{both:?}");
}

#[test]
fn formats_are_checked_if_asked_for() {
    let schema = json!({"properties": {
        "mail": {"format": "email"}, "day": {"format": "date"}, "id": {"format": "iban"},
    }});
    let value = json!({"mail": "x", "day": "2026-02-30", "id": "x"});
    assert!(messages(Validator::options(), &schema, &value).is_empty());
    let asserting = Validator::options().assert_formats(true);
    assert_eq!(
        messages(asserting, &schema, &value),
        [
            "at /mail: \"x\" is not an e-mail address",
            "at /day: \"2026-02-30\" is not a date such as 2026-07-28",
        ]
    );
    let right = json!({"mail": "ada@post.example", "day": "2026-02-28", "id": 1});
    assert!(messages(asserting, &schema, &right).is_empty());
}
