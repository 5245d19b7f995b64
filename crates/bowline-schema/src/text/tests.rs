//! Tests of the check on text.

use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trip",
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where to"},
            "days": {"type": "integer", "minimum": 0, "maximum": 30},
            "price": {"type": ["number", "null"]},
            "class": {"$ref": "#/$defs/Class"},
            "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
            "first": {"anyOf": [{"$ref": "#/$defs/Stop"}, {"type": "null"}]},
            "notes": true,
        },
        "required": ["city", "days"],
        "$defs": {
            "Class": {"type": "string", "enum": ["economy", "first"]},
            "Stop": {
                "type": "object",
                "properties": {"at": {"type": "boolean"}},
                "additionalProperties": false,
            },
        },
    })
}

#[test]
fn what_fits_for_sure_is_seen() {
    let plain = TextCheck::compile(&schema()).expect("the schema is plain");
    for text in [
        r#"{"city":"Lisbon","days":3}"#,
        " { \"days\" : 30 , \"city\" : \"a \\\" \\\\\" } ",
        r#"{"city":"","days":0,"price":1.5e3,"class":"first","else":{"a":[1,{}]}}"#,
        r#"{"city":"ü","days":1,"price":null,"stops":[{},{"at":true}],"first":null}"#,
        r#"{"city":"x","days":1,"first":{"at":false},"notes":[[],"\u0041",-1]}"#,
    ] {
        assert!(plain.is_surely_valid(text), "{text}");
    }
}

#[test]
fn what_fits_is_valid() {
    let validator = jsonschema::draft202012::new(&schema()).expect("it is a schema");
    let plain = TextCheck::compile(&schema()).expect("the schema is plain");
    let values = [
        "null",
        "true",
        "0",
        "-1",
        "30",
        "31",
        "1.5",
        "1.0",
        "1e2",
        "\"economy\"",
        "\"second\"",
        "\"\\u0041\"",
        "[]",
        "[1]",
        "[{}]",
        "[{\"at\":1}]",
        "[{\"to\":1}]",
        "{}",
        "{\"at\":true}",
        "{\"at\":null}",
        "99999999999999999999",
    ];
    let names = [
        "city",
        "days",
        "price",
        "class",
        "stops",
        "first",
        "notes",
        "c\\u0069ty",
    ];
    let mut valid_count = 0;
    for name in names {
        for value in values {
            for rest in [r#""city":"x","days":1"#, r#""city":"x""#, r#""days":1"#] {
                let text = format!("{{{rest},\"{name}\":{value}}}");
                if plain.is_surely_valid(&text) {
                    let value: Value = serde_json::from_str(&text).expect("it is JSON");
                    assert!(validator.is_valid(&value), "{text}");
                    valid_count += 1;
                }
            }
        }
    }
    // Counted by hand, so that none is rejected unnecessarily.
    assert_eq!(valid_count, 41);
}

#[test]
fn numbers_within_bounds_are_seen() {
    let schema = json!({"type": "number", "minimum": -2, "maximum": 10});
    let plain = TextCheck::compile(&schema).expect("the schema is plain");
    let fits = ["0", "-2", "10", "9.75", "-1.5", "-0.5", "0.0"];
    assert!(fits.iter().all(|text| plain.is_surely_valid(text)));
    // The last three fit, but that is left to the validator.
    let others = [
        "11",
        "10.5",
        "-2.5",
        "1.5e3",
        "99999999999999999999",
        "-2.0",
        "10.0",
        "1e0",
    ];
    assert!(!others.iter().any(|text| plain.is_surely_valid(text)));
}

#[test]
fn sizes_are_those_of_the_values() {
    let schema = json!({
        "type": ["string", "array"],
        "format": "hostname",
        "minLength": 2,
        "maxLength": 3,
        "minItems": 1,
        "maxItems": 2,
    });
    let plain = TextCheck::compile(&schema).expect("the schema is plain");
    let fits = [r#""ab""#, r#""aü€""#, r#""a😀""#, "[1]", "[[],{}]"];
    assert!(fits.iter().all(|text| plain.is_surely_valid(text)));
    // The last one fits, but has an escape.
    let others = [
        r#""""#,
        r#""ü""#,
        r#""abcd""#,
        "[]",
        "[1,2,3]",
        "1",
        r#""a\n""#,
    ];
    assert!(!others.iter().any(|text| plain.is_surely_valid(text)));
}

/// Returns a schema for an object whose member `a` is `x`, or another one.
fn alternatives(mut other: Value) -> Value {
    other["type"] = json!("object");
    let one = json!({"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"]});
    json!({"oneOf": [one, other]})
}

#[test]
fn an_object_is_the_alternative_that_its_tag_names() {
    let schema = alternatives(json!({
        "properties": {"n": {"type": "integer"}, "a": {"const": "y"}},
        "required": ["a", "n"],
    }));
    let plain = TextCheck::compile(&schema).expect("the schema is plain");
    let fits = [
        r#"{"a":"x"}"#,
        r#"{"a":"x","n":"any"}"#,
        r#"{"a":"y","n":1}"#,
        r#" { "n" : 1 , "o" : [{"a":"x"}] , "a" : "y" } "#,
    ];
    let others = [
        "{}",
        "[]",
        r#"{"a":"z"}"#,
        r#"{"a":1}"#,
        r#"{"a":"y"}"#,
        r#"{"n":"1","a":"y"}"#,
        r#"{"b":{"a":"x"}}"#,
        // These are left to the validator.
        r#"{"\u0061":"x"}"#,
        r#"{"a":"\u0078"}"#,
        r#"{"a":"x","a":"y"}"#,
        r#"{"a":"y","n":1,"a":"x"}"#,
    ];
    assert!(fits.iter().all(|text| plain.is_surely_valid(text)));
    assert!(!others.iter().any(|text| plain.is_surely_valid(text)));
}

#[test]
fn strings_match_a_simple_pattern() {
    let schema = json!({"anyOf": [{"type": "string", "pattern": "^[a-z]{2}$"}, {"type": "null"}]});
    let plain = TextCheck::compile(&schema).expect("the schema is plain");
    assert!(
        ["\"ab\"", "null"]
            .iter()
            .all(|text| plain.is_surely_valid(text))
    );
    // The last one fits, but has an escape.
    let others = ["\"a\"", "\"abc\"", "\"\"", "1", "\"\\u0061b\""];
    assert!(!others.iter().any(|text| plain.is_surely_valid(text)));
}

#[test]
fn what_is_not_known_is_not_plain() {
    for schema in [
        json!(false),
        json!({"type": "string", "minLength": 1.5}),
        json!({"type": "array", "maxItems": -1}),
        json!({"type": "array", "items": {"type": "string", "pattern": "a"}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "required": ["unknown"]}),
        json!({"enum": [1, 2]}),
        json!({"enum": ["a"], "const": "b"}),
        json!({"const": 1}),
        json!({"type": "number", "minimum": 0.5}),
        json!({"$ref": "#/$defs/A", "type": "string", "$defs": {"A": true}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}),
        json!({"$ref": "#/$defs/A", "anyOf": [{"type": "null"}, true], "$defs": {"A": true}}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        // Both match `null`.
        json!({"oneOf": [true, {"type": "null"}]}),
        // Not every alternative has the member, requires it, has one value for it, or
        // another one than the others.
        alternatives(json!({"properties": {"b": {"const": "x"}}, "required": ["b"]})),
        alternatives(json!({"properties": {"a": {"const": "y"}}})),
        alternatives(json!({"properties": {"a": {"enum": ["y", "z"]}}, "required": ["a"]})),
        alternatives(json!({"properties": {"a": {"const": "x"}}, "required": ["a"]})),
    ] {
        assert_eq!(TextCheck::compile(&schema), None, "{schema}");
    }
}
