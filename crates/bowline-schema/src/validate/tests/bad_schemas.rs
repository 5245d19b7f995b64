//! Schemas that are wrong, hostile or from an older draft: each is compiled or refused
//! with a reason, in bounded time.

use std::mem;

use serde_json::{Map, Value, json};

use crate::validate::{Validator, tests::explanations::messages};

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
        let mut defs: Map<_, _> = (0..length).map(link).collect();
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

/// Both directions: neither the schema nor the value may exhaust the stack.
#[test]
fn what_is_very_deep_is_refused() {
    let too_deep = deep(10_000, json!({"type": "integer"}), |inner| ("items", inner));
    let error = Validator::new(&too_deep).expect_err("it is too deep");
    assert!(
        error.to_string().contains("nested more than 2048 levels"),
        "{error}"
    );
    dismantle(too_deep);

    for schema in [
        json!({"const": 1}),
        json!({"enum": [1, [1]]}),
        json!({"uniqueItems": true}),
        json!({"items": {"$ref": "#"}}),
        json!({"properties": {"a": {"$ref": "#"}}, "not": {"const": [[1]]}}),
        json!({"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "string"}]}),
    ] {
        let validator = Validator::new(&schema).expect("a schema");
        for value in [nested_arrays(10_000), nested_objects(10_000)] {
            let (is_valid, errors) = (validator.is_valid(&value), validator.errors(&value));
            assert_eq!(errors.is_empty(), is_valid, "{schema}: {errors:?}");
            dismantle(value);
        }
    }
}

fn nested_arrays(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

fn nested_objects(depth: usize) -> Value {
    deep(depth, json!(1), |inner| ("a", inner))
}

fn deep(depth: usize, innermost: Value, step: impl Fn(Value) -> (&'static str, Value)) -> Value {
    (0..depth).fold(innermost, |inner, _| {
        let (name, inner) = step(inner);
        wrap(name, inner)
    })
}

/// Drops a value that is too deep to be dropped recursively.
fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Value::Array(items) => pending.extend(mem::take(items)),
            Value::Object(members) => {
                pending.extend(mem::take(members).into_iter().map(|(_, member)| member));
            }
            _ => {}
        }
    }
}

#[test]
fn a_schema_that_only_leads_to_itself_is_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"allOf": [{"anyOf": [{"not": {"$ref": "#"}}]}]}),
        json!({"if": true, "then": {"$ref": "#"}}),
    ] {
        let error = Validator::new(&schema).expect_err("it never ends");
        assert!(
            error.to_string().contains("infinitely recursive"),
            "{error}"
        );
        let options = Validator::options().reject_undeclared_members(true);
        options.compile(&schema).expect_err("it never ends");
    }
    // Through a member or an item it ends with the value.
    let tree =
        json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "required": ["id"]});
    let value = json!({"id": 1, "left": {"id": 2, "right": {"idd": 3}}});
    assert_eq!(
        messages(&tree, &value),
        ["at /left/right: \"id\" is a required property"]
    );
}

#[test]
fn a_schema_may_contradict_itself() {
    for schema in [
        json!({"type": "string", "enum": [1]}),
        json!({"minimum": 2, "maximum": 1, "type": "number"}),
        json!({"minLength": 2, "maxLength": 1, "type": "string"}),
        json!({"required": ["a"], "properties": {"a": false}, "type": "object"}),
        json!({"allOf": [{"type": "string"}, {"type": "number"}]}),
        json!({"not": {}}),
        json!({"enum": []}),
        json!(false),
    ] {
        let validator = Validator::new(&schema).expect("a schema");
        for value in [
            json!(1),
            json!("a"),
            json!("abc"),
            json!({}),
            json!({"a": 1}),
        ] {
            assert!(!validator.is_valid(&value), "{schema} and {value}");
            assert!(!validator.errors(&value).is_empty(), "{schema} and {value}");
        }
    }
}

#[test]
fn schemas_of_older_drafts_are_understood_or_refused() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "http://example.com/root.json",
        "definitions": {
            "point": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "additionalItems": false},
            "name": {"$id": "#name", "type": "string"},
        },
        "properties": {
            "at": {"$ref": "#/definitions/point"},
            "name": {"$ref": "#name"},
            "alias": {"$ref": "http://example.com/root.json#/definitions/name"},
        },
        "dependencies": {"at": ["name"], "alias": {"required": ["at"]}},
    });
    let validator = Validator::new(&schema).expect("a schema");
    for (value, is_valid) in [
        (json!({"at": [1, 2], "name": "a"}), true),
        (json!({"at": [1, 2, 3], "name": "a"}), false),
        (json!({"at": [1, 2]}), false),
        (json!({"name": 7}), false),
        (json!({"alias": "a"}), false),
    ] {
        assert_eq!(validator.is_valid(&value), is_valid, "{value}");
    }
    for (schema, why) in [
        (
            json!({"exclusiveMinimum": true, "minimum": 1}),
            "must be a number",
        ),
        (
            json!({"properties": {"a": {"required": true}}}),
            "at \"#/properties/a\": `required` must be an array of strings",
        ),
        (json!({"type": "any"}), "must be a type"),
    ] {
        let error = Validator::new(&schema).expect_err("it is from draft 4");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn what_is_wrong_with_a_reference_is_told() {
    for (reference, why) in [
        (
            "http://example.com/other.json",
            "`$ref` refers outside of the schema: \"http://example.com/other.json\"",
        ),
        (
            "other.json#/a",
            "`$ref` refers outside of the schema: \"other.json#/a\"",
        ),
        (
            "#/$defs/none",
            "`$ref` refers to what does not exist: \"#/$defs/none\"",
        ),
        ("#none", "`$ref` refers to what does not exist: \"#none\""),
        ("#/%zz", "`$ref` refers to what does not exist: \"#/%zz\""),
    ] {
        let schema = json!({"properties": {"a/b": {"$ref": reference}}});
        let error = Validator::new(&schema).expect_err("it is not there");
        assert_eq!(
            error.to_string(),
            format!("at \"#/properties/a~1b\": {why}")
        );
    }
}

/// Each would take hours or all memory if the work grew with the square of its size,
/// or with the sum of the pointers in it.
#[test]
fn large_schemas_take_no_longer_than_their_size() {
    let many = |count: usize, entry: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        let members = (0..count).map(|at| (format!("m{at}"), entry(at)));
        members.collect()
    };
    let list = |count: usize, entry: &dyn Fn(usize) -> Value| (0..count).map(entry).collect();
    let text = "Some text, as authors write it, and some more. ".repeat(2);
    let five_megabytes = many(40_000, &|_| json!({"type": "string", "description": text}));
    let resources = many(
        10_000,
        &|at| json!({"$id": format!("https://example.com/{at}"), "$dynamicAnchor": "it"}),
    );
    let dynamic: Value = list(10_000, &|_| json!({"$dynamicRef": "#it"}));
    let cases: Value = list(
        10_000,
        &|at| json!({"properties": {"kind": {"const": at}}, "required": ["kind"]}),
    );
    let parts: Value = list(
        10_000,
        &|at| json!({"properties": {format!("m{at}"): {"default": 1}}}),
    );
    let names: Value = list(10_000, &|at| json!(format!("m{at}")));
    let wide = json!({"properties": many(10_000, &|_| json!({"type": "integer"}))});
    let long = "n".repeat(40_000);
    let long_names = deep(60, wide, |inner| ("properties", wrap(&long, inner)));
    let nots = deep(100, json!({"enum": vec![7; 100_000]}), |inner| {
        ("not", inner)
    });
    for schema in [
        wrap("properties", five_megabytes.into()),
        json!({"$defs": resources, "prefixItems": dynamic, "$dynamicAnchor": "it"}),
        json!({"anyOf": cases}),
        json!({"required": names}),
        json!({"allOf": parts}),
        long_names,
        nots,
    ] {
        check_both_ways(&schema);
    }
}

fn check_both_ways(schema: &Value) {
    let plain = Validator::options();
    let other = plain
        .reject_undeclared_members(true)
        .accept_missing_defaults(true);
    for options in [plain, other] {
        let validator = options.compile(schema).expect("a schema");
        for value in [json!({"m7": 1, "kind": "x", "kidn": 7}), json!([1, 2])] {
            let (is_valid, errors) = (validator.is_valid(&value), validator.errors(&value));
            assert_eq!(errors.is_empty(), is_valid, "{errors:?}");
        }
    }
}

fn wrap(name: &str, inner: Value) -> Value {
    Value::Object([(name.to_owned(), inner)].into_iter().collect())
}

#[test]
fn patterns_that_are_large_together_are_refused() {
    let schema = json!({"patternProperties": (0..10_000)
        .map(|at| (format!("(a{{100}}){{100}}{at}"), json!(true)))
        .collect::<Map<_, _>>()});
    let error = Validator::new(&schema).expect_err("they are too large");
    let why = "`patternProperties` is too large, with the patterns before it";
    assert!(error.to_string().contains(why), "{error}");
}
