//! What types look like.

use serde_json::{Map, Value, json};

use super::{Detail, PrintBudget, Printer, type_expression};
use crate::shape::Shape;

#[track_caller]
fn check(schema: Value, detail: Detail, expected: &str) {
    let text = schema.to_string();
    let shape = Shape::new(schema);
    assert_eq!(
        type_expression(&shape, shape.root(), detail),
        expected,
        "{text}"
    );
}

#[test]
fn types_are_short_expressions() {
    let cases = [
        (json!({"type": "string"}), "string"),
        (json!({"type": "string", "format": "date"}), "date"),
        (json!({"type": "integer"}), "integer"),
        (
            json!({"type": "integer", "minimum": 1, "maximum": 9}),
            "1..9",
        ),
        (json!({"type": "integer", "exclusiveMinimum": 0}), "1.."),
        (json!({"type": "integer", "exclusiveMaximum": 9.5}), "..9"),
        (
            json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
            "0..",
        ),
        (json!({"type": "integer", "minimum": i64::MIN}), "integer"),
        (json!({"type": "number"}), "number"),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
            "number 0..<1",
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0.5}),
            "number 0.5<..",
        ),
        (
            json!({"enum": ["economy", "business"]}),
            r#""economy" | "business""#,
        ),
        (json!({"const": 5}), "5"),
        (json!({"const": {"a": [1, 2]}}), r#"{"a": [1, 2]}"#),
        (
            json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
            r#""a" | "b""#,
        ),
        (json!({"type": ["integer", "null"]}), "integer | null"),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}),
            "string | null",
        ),
        (json!({"type": "null"}), "null"),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            "string[]",
        ),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}}),
            r#"("a" | "b")[]"#,
        ),
        (json!({"type": "array"}), "any[]"),
        (json!({"type": "object"}), "object"),
        (
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
            "{ [name]: number }",
        ),
        (
            json!({
                "properties": {"b": {"type": "boolean"}, "a": {"properties": {"x": {}}}},
                "required": ["b"],
            }),
            "{ b: boolean, a?: { … } }",
        ),
        (json!({}), "any"),
        (json!(true), "any"),
        (json!(false), "never"),
        (
            json!({"enum": [1, 2, 3, 4, 5, 6, 7, 8]}),
            "1 | 2 | 3 | 4 | 5 | 6 | …",
        ),
        (
            json!({"enum": [1, 2, 3, 4, 5, 6, 7, null]}),
            "1 | 2 | 3 | 4 | 5 | 6 | … | null",
        ),
    ];
    for (schema, expected) in cases {
        check(schema, Detail::SHORT, expected);
    }
}

#[test]
fn lists_of_several_types_are_unambiguous() {
    let pair = json!([{"type": "string"}, {"type": "integer"}]);
    let cases = [
        (
            json!({"prefixItems": pair, "items": false, "minItems": 1}),
            "[string, integer?]",
        ),
        (
            json!({"prefixItems": pair, "minItems": 2}),
            "[string, integer]",
        ),
        (
            json!({"items": pair, "additionalItems": {"type": ["null", "number"]}, "minItems": 2}),
            "[string, integer, ...(number | null)[]]",
        ),
        (
            json!({"prefixItems": [{"type": ["string", "null"]}], "items": false}),
            "[(string | null)?]",
        ),
        (
            json!({"items": {"anyOf": [{"properties": {"a": {}}}, {"type": "null"}]}}),
            "({ a?: any } | null)[]",
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
            "{ a?: any, [name]: string }",
        ),
    ];
    for (schema, expected) in cases {
        check(schema, Detail::PAGE, expected);
    }
}

#[test]
fn what_is_required_comes_first_from_all_parts() {
    let any = json!({});
    let schema = json!({
        "properties": {"z": any, "a": any, "y": {"default": 1}}, "required": ["y", "a", "m", "h"],
        "allOf": [{"$ref": "#/$defs/More"}],
        "$defs": {"More": {"properties": {"m": any, "b": any, "c": any}, "required": ["c", "m"]}},
    });
    check(
        schema,
        Detail::SHORT,
        "{ y?: any, a: any, m: any, h: any, c: any, z?: any, b?: any }",
    );
}

#[test]
fn named_objects_are_named_and_circles_end() {
    check(
        json!({
            "properties": {"tree": {"$ref": "#/$defs/Tree"}, "mood": {"$ref": "#/$defs/Mood"}},
            "$defs": {
                "Tree": {"properties": {"left": {"$ref": "#/$defs/Tree"}}},
                "Mood": {"enum": ["good"]},
            },
        }),
        Detail::PAGE,
        r#"{ tree?: Tree, mood?: "good" }"#,
    );
    check(
        json!({"properties": {"next": {"$ref": "#"}}}),
        Detail::FULL,
        "{ next?: Root }",
    );
    check(json!({"$ref": "#"}), Detail::FULL, "any");
    let shape = Shape::new(json!({"items": {"$ref": "#"}}));
    let shown = type_expression(&shape, shape.root(), Detail::SHORT);
    assert!(shown.len() < 100, "{shown}");
}

#[test]
fn named_unions_are_spelled_out_as_part_of_the_union_around_them() {
    let schema = json!({
        "anyOf": [{"$ref": "#/$defs/Pet"}, {"$ref": "#/$defs/Cat"}, {"type": "string"}],
        "$defs": {
            "Pet": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Maybe"}]},
            "Maybe": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Pet"}, {"type": "boolean"}]},
            "Cat": {"properties": {"lives": {"type": "integer"}}},
        },
    });
    check(schema, Detail::SHORT, "Cat | boolean | string | null");
    let optional = json!({
        "items": {"$ref": "#/$defs/Cat"},
        "$defs": {"Cat": {"type": ["object", "null"], "properties": {"lives": {}}}},
    });
    check(optional, Detail::SHORT, "(Cat | null)[]");
    let many = (0..20).map(|at| json!({"properties": {(format!("p{at}")): {}}}));
    let many = json!({"anyOf": many.collect::<Vec<_>>()});
    let shape = Shape::new(many);
    let shown = type_expression(&shape, shape.root(), Detail::FULL);
    assert!(shown.ends_with("{ p11?: any } | …"), "{shown}");
}

#[test]
fn what_has_no_end_is_cut() {
    // Each list contains objects with 300 members: expanded, eight levels would not fit
    // into any memory.
    let members = (0..300).map(|at| (format!("p{at}"), json!({"$ref": "#/$defs/A"})));
    let items = json!({"properties": members.collect::<Map<_, _>>()});
    let many = json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": items}}});
    let choices = json!({"enum": (0..200_000).collect::<Vec<_>>()});
    for schema in [many, choices] {
        let shape = Shape::new(schema);
        let shown = type_expression(&shape, shape.root(), Detail::FULL);
        assert!(shown.contains('…'), "{}", shown.len());
        let length = shown.len();
        assert!((10_000..1_000_000).contains(&length), "{length}");
    }
}

#[test]
fn a_budget_is_shared() {
    let shape = Shape::new(json!({"type": "array", "items": {"type": "string"}}));
    let budget = PrintBudget::new(10);
    let print = || Printer::new(&shape, Detail::SHORT, &budget).expression(shape.root());
    assert_eq!(print(), "string[]");
    print();
    assert_eq!(print(), "…");
    assert_eq!(budget.remaining(), 0);
}

#[track_caller]
fn check_named(schema: Value, expected: &[&str]) {
    let shape = Shape::new(schema);
    let budget = PrintBudget::default();
    let named = Printer::new(&shape, Detail::PAGE, &budget).named_types();
    let shown: Vec<_> = named
        .iter()
        .map(|named| format!("{} = {}", named.name, named.expression))
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn types_within_types_are_shown_once_each() {
    check_named(
        json!({
            "properties": {
                "order": {"$ref": "#/$defs/Order"},
                "pet": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"type": "null"}]},
            },
            "$defs": {
                "Order": {"properties": {
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                    "by": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Person"}},
                }},
                "Line": {"properties": {"part": {"$ref": "#/$defs/Line"}, "to": {"$ref": "#/$defs/Person"}}},
                "Person": {"properties": {"name": {"type": "string"}, "mood": {"$ref": "#/$defs/Mood"}}},
                "Mood": {"enum": ["good"]},
                "Cat": {"properties": {"owner": {"$ref": "#/$defs/Person"}}},
                "Unused": {"properties": {"a": {}}},
            },
        }),
        &[
            "Order = { lines?: Line[], by?: { [name]: Person } }",
            "Cat = { owner?: Person }",
            "Line = { part?: Line, to?: Person }",
            "Person = { name?: string, mood?: \"good\" }",
        ],
    );
}

#[test]
fn only_types_that_are_called_by_name_are_listed() {
    check_named(
        json!({
            "properties": {
                "a": {"properties": {"x": {"type": "string"}}},
                "b": {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"y": {}}}]},
                "c": {"$ref": "#/$defs/Open"},
            },
            "$defs": {"Base": {"properties": {"x": {}}}, "Open": {"type": "object"}},
        }),
        &[],
    );
    check_named(
        json!({"title": "List", "properties": {"next": {"$ref": "#"}}}),
        &["List = { next?: List }"],
    );
}
