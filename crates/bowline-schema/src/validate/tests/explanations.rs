//! Errors say what is wrong, what was expected and what was probably meant.

use serde_json::{Value, json};

use crate::validate::{JsonType, ValidationError, ValidationErrorKind as Kind, Validator};

fn errors(schema: &Value, value: &Value) -> Vec<ValidationError> {
    let validator = Validator::new(schema).expect("a schema");
    assert!(!validator.is_valid(value), "{value}");
    validator.errors(value)
}

/// The errors as a caller sees them.
pub(super) fn messages(schema: &Value, value: &Value) -> Vec<String> {
    errors(schema, value)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn check(schema: &Value, value: &Value, kind: &Kind, expected: &str) {
    let errors = errors(schema, value);
    let [error] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert_eq!(error.kind, *kind, "{error}");
    assert_eq!(error.expected, expected, "{error}");
}

#[test]
fn every_kind_of_error_says_what_was_expected() {
    let name = || "a".to_owned();
    let number = |number: u64| number.into();
    for (schema, value, kind, expected) in [
        (
            json!({"required": ["a"], "properties": {"a": {"type": ["string", "null"]}}}),
            json!({}),
            Kind::MissingMember { name: name() },
            "null or string",
        ),
        (
            json!({"required": ["a"]}),
            json!({}),
            Kind::MissingMember { name: name() },
            "any value",
        ),
        (
            json!({"dependentRequired": {"b": ["a"]}}),
            json!({"b": 1}),
            Kind::MissingMember { name: name() },
            "any value",
        ),
        (
            json!({"properties": {"b": {}}, "additionalProperties": false}),
            json!({"a": 1}),
            Kind::UnknownMember {
                name: name(),
                known: vec!["b".to_owned()],
            },
            "`b`",
        ),
        (
            json!({"unevaluatedProperties": false, "allOf": [{"properties": {"b": {}, "c": {}}}]}),
            json!({"a": 1}),
            Kind::UnknownMember {
                name: name(),
                known: vec!["b".to_owned(), "c".to_owned()],
            },
            "`b` or `c`",
        ),
        (
            json!({"additionalProperties": false}),
            json!({"a": 1}),
            Kind::UnknownMember {
                name: name(),
                known: Vec::new(),
            },
            "no such member",
        ),
        (
            json!({"propertyNames": {"minLength": 2}}),
            json!({"a": 1}),
            Kind::InvalidMemberName { name: name() },
            "at least 2 characters",
        ),
        (
            json!({"type": ["null", "integer"]}),
            json!(1.5),
            Kind::WrongType {
                allowed: vec![JsonType::Integer, JsonType::Null],
            },
            "integer or null",
        ),
        (
            json!({"enum": [1, "a", null]}),
            json!(2),
            Kind::NotAChoice {
                choices: vec![json!(1), json!("a"), json!(null)],
            },
            "1, \"a\" or null",
        ),
        (
            json!({"const": 1}),
            json!(2),
            Kind::NotAChoice {
                choices: vec![json!(1)],
            },
            "1",
        ),
        (
            json!({"minimum": 3}),
            json!(2),
            Kind::TooSmall {
                minimum: number(3),
                is_exclusive: false,
            },
            "at least 3",
        ),
        (
            json!({"exclusiveMaximum": 2}),
            json!(2),
            Kind::TooLarge {
                maximum: number(2),
                is_exclusive: true,
            },
            "less than 2",
        ),
        (
            json!({"multipleOf": 2}),
            json!(3),
            Kind::NotAMultiple { divisor: number(2) },
            "a multiple of 2",
        ),
        (
            json!({"minLength": 2}),
            json!("ä"),
            Kind::TooShort {
                length: 1,
                minimum: 2,
            },
            "at least 2 characters",
        ),
        (
            json!({"maxItems": 1}),
            json!([1, 2]),
            Kind::TooLong {
                length: 2,
                maximum: 1,
            },
            "at most 1 item",
        ),
        (
            json!({"maxProperties": 0}),
            json!({"a": 1}),
            Kind::TooLong {
                length: 1,
                maximum: 0,
            },
            "at most 0 properties",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 2, 1.0, 2]),
            Kind::RepeatedItem { index: 2 },
            "unique items",
        ),
        (
            json!({"pattern": "^a"}),
            json!("b"),
            Kind::PatternMismatch {
                pattern: "^a".to_owned(),
            },
            "a match of ^a",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(1),
            Kind::NoAlternative,
            "string or null",
        ),
        (
            json!({"oneOf": [true, true]}),
            json!(1),
            Kind::SeveralAlternatives,
            "only one of the alternatives",
        ),
        (json!(false), json!(1), Kind::Forbidden, "nothing"),
        (
            json!({"not": {"type": "number"}}),
            json!(1),
            Kind::Forbidden,
            "anything else",
        ),
        (
            json!({"contains": {"type": "string"}}),
            json!([1]),
            Kind::Other,
            "other items",
        ),
    ] {
        check(&schema, &value, &kind, expected);
    }
}

#[test]
fn names_and_values_that_are_nearly_right_are_suggested() {
    let schema = json!({
        "properties": {
            "dice": {"enum": ["d6", "d20", "coin"]},
            "table": {"oneOf": [{"const": "green", "title": "Green"}, {"const": "blue"}]},
            "tags": {"items": {"enum": ["fast", "slow"]}},
        },
        "additionalProperties": false,
    });
    for (value, expected) in [
        (
            json!({"dise": 1}),
            "at /: Additional properties are not allowed ('dise' was unexpected); did you mean `dice`?",
        ),
        (
            json!({"weather": 1}),
            "at /: Additional properties are not allowed ('weather' was unexpected)",
        ),
        (
            json!({"dice": "coins"}),
            "at /dice: \"coins\" is not one of \"d6\", \"d20\" or \"coin\"; did you mean `coin`?",
        ),
        (
            json!({"dice": 6}),
            "at /dice: 6 is not one of \"d6\", \"d20\" or \"coin\"",
        ),
        (
            json!({"table": "Green"}),
            "at /table: \"Green\" is not one of \"green\" or \"blue\"; did you mean `green`?",
        ),
        (
            json!({"tags": ["fast", "slwo"]}),
            "at /tags/1: \"slwo\" is not one of \"fast\" or \"slow\"; did you mean `slow`?",
        ),
    ] {
        assert_eq!(messages(&schema, &value), [expected]);
    }
    let twice = messages(&schema, &json!({"dise": 1, "tag": 1}));
    assert_eq!(twice.len(), 2, "{twice:?}");
    assert!(twice[1].ends_with("did you mean `tags`?"), "{twice:?}");
}

fn pets() -> Value {
    json!({
        "properties": {
            "pet": {"anyOf": [
                {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
                {"$ref": "#/$defs/Dog"},
                {"type": "null"}
            ]},
            "maybe": {"anyOf": [{"properties": {"x": {"type": "number"}}}, {"type": "null"}]},
        },
        "$defs": {
            "Dog": {
                "properties": {"kind": {"enum": ["dog"]}, "age": {"type": "integer"}},
                "required": ["kind", "age"]
            },
        },
    })
}

#[test]
fn of_alternatives_the_one_that_is_meant_is_explained() {
    for (value, expected) in [
        (
            json!({"pet": {"kind": "dog"}}),
            "at /pet: \"age\" is a required property",
        ),
        (
            json!({"pet": {"kind": "dog", "age": "old"}}),
            "at /pet/age: \"old\" is not of type \"integer\"",
        ),
        (
            json!({"maybe": {"x": "1"}}),
            "at /maybe/x: \"1\" is not of type \"number\"",
        ),
        // No alternative has such a tag, or there is none at all.
        (
            json!({"pet": {"kind": "dogs"}}),
            "at /pet/kind: \"dogs\" is not one of \"cat\" or \"dog\"; did you mean `dog`?",
        ),
        (
            json!({"pet": {"age": 3}}),
            "at /pet: \"kind\" is a required property: \"cat\" or \"dog\"",
        ),
    ] {
        assert_eq!(messages(&pets(), &value), [expected]);
    }
}

#[test]
fn the_only_alternative_of_the_right_type_is_the_one_that_is_meant() {
    let one = json!({"type": "string", "minLength": 3});
    for (schema, value, expected) in [
        (
            json!({"anyOf": [one, {"type": "null"}]}),
            json!("ab"),
            "at /: \"ab\" is shorter than 3 characters",
        ),
        (
            json!({"oneOf": [{"type": "array", "items": one}, {"type": "object"}]}),
            json!(["abc", "ab"]),
            "at /1: \"ab\" is shorter than 3 characters",
        ),
        (
            json!({"anyOf": [{"anyOf": [one, {"type": "boolean"}]}, {"type": "null"}]}),
            json!("ab"),
            "at /: \"ab\" is shorter than 3 characters",
        ),
        (
            json!({"anyOf": [{"enum": ["fast", "slow"]}, {"type": "null"}]}),
            json!("fats"),
            "at /: \"fats\" is not one of \"fast\" or \"slow\"; did you mean `fast`?",
        ),
        (
            json!({"anyOf": [one, {"type": "integer"}]}),
            json!(1.5),
            "at /: 1.5 matches none of the alternatives: string or integer",
        ),
    ] {
        assert_eq!(messages(&schema, &value), [expected]);
    }
}

#[test]
fn if_no_alternative_is_meant_all_are_told() {
    let schema = json!({"anyOf": [
        {"properties": {"city": {"type": "string"}}, "required": ["city"]},
        {"properties": {"lat": {}, "lon": {}}, "required": ["lat", "lon"]},
        {"type": "string", "const": "here"},
    ]});
    assert_eq!(
        messages(&schema, &json!({"zip": 1})),
        ["at /: {\"zip\":1} matches none of the alternatives: \
          object with `city`, object with `lat` and `lon` or \"here\""]
    );
    let either = json!({"properties": {"a": {}, "b": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]});
    assert_eq!(
        messages(&either, &json!({})),
        ["at /: {} matches none of the alternatives: object with `a` or object with `b` and `c`"]
    );
    let many: Vec<Value> = (0..20)
        .map(|at| json!({"required": [format!("m{at}")], "properties": {format!("m{at}"): {}}}))
        .collect();
    assert_eq!(
        messages(&json!({"oneOf": many}), &json!({})),
        ["at /: {} matches none of the alternatives: \
          object with `m0`, object with `m1`, object with `m2`, object with `m3` or 16 more"]
    );
}

#[test]
fn a_value_is_not_said_to_be_another_than_it_is() {
    let schema = json!({"anyOf": [{"const": "a", "minLength": 2}, {"const": "b"}]});
    assert_eq!(
        messages(&schema, &json!("a")),
        ["at /: \"a\" matches none of the alternatives: \"a\" or \"b\""]
    );
    let schema = json!({"anyOf": [
        {"properties": {"kind": {"const": "a"}, "size": {"const": 1}}},
        {"properties": {"kind": {"const": "b"}, "size": {"const": 2}}},
    ]});
    assert_eq!(
        messages(&schema, &json!({"kind": "a", "size": 2})),
        [
            "at /: {\"kind\":\"a\",\"size\":2} matches none of the alternatives: \
          object with `kind` \"a\" and `size` 1 or object with `kind` \"b\" and `size` 2"
        ]
    );
}

#[test]
fn alternatives_are_explained_however_deep_they_are() {
    let mut schema = json!({"anyOf": [
        {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        {"type": "null"}
    ]});
    let mut value = json!({"x": "one"});
    for _ in 0..8 {
        schema = json!({"anyOf": [{"type": "array", "items": schema}, {"type": "null"}]});
        value = json!([value]);
    }
    assert_eq!(
        messages(&schema, &value),
        ["at /0/0/0/0/0/0/0/0/x: \"one\" is not of type \"integer\""]
    );
}

#[test]
fn members_are_not_unknown_only_because_another_one_is_wrong() {
    let schema = json!({
        "properties": {"id": {"type": "integer"}},
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "size": {"type": "integer"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}, "name": {"type": "string"}}, "required": ["kind"]},
        ],
        "unevaluatedProperties": false,
    });
    assert_eq!(
        messages(&schema, &json!({"id": 1, "kind": "a", "size": "large"})),
        ["at /size: \"large\" is not of type \"integer\""]
    );
    assert_eq!(
        messages(&schema, &json!({"id": 1, "kind": "a", "sise": 1})),
        [
            "at /: Unevaluated properties are not allowed ('sise' was unexpected); did you mean `size`?"
        ]
    );
    // It is declared, but not for this alternative.
    assert_eq!(
        messages(&schema, &json!({"id": 1, "kind": "a", "name": "x"})),
        ["at /: Unevaluated properties are not allowed ('name' was unexpected)"]
    );
}

#[test]
fn what_several_schemas_say_is_reported_once() {
    let one = json!({"required": ["a"]});
    assert_eq!(
        messages(
            &json!({"allOf": [one, one, {"$ref": "#/allOf/0"}]}),
            &json!({})
        ),
        ["at /: \"a\" is a required property"]
    );
}
