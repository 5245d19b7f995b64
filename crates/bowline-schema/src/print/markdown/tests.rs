//! What becomes of shapes.

use serde_json::{Map, Value, json};

use super::{fields, named_types};
use crate::shape::Shape;

#[track_caller]
fn check(schema: Value, expected: &str) {
    let shape = Shape::new(schema);
    assert_eq!(fields(&shape), expected, "{}", shape.document());
}

#[test]
fn members_are_listed() {
    check(
        json!({
            "properties": {
                "q": {"type": "string", "description": "What to\nlook for.", "minLength": 1, "pattern": "`"},
                "n": {"type": ["integer", "null"], "default": 5, "maximum": 9, "deprecated": true},
                "any": {"not": {"type": "string"}},
                "free": {"examples": [1, "a"]},
                "a `b`\n": {"enum": ["x", 1]},
            },
            "required": ["q"],
        }),
        r#"- `q` (`string`, required): What to
  look for. At least 1 character, pattern `` ` ``.
- `n` (`integer | null`, deprecated): At most 9. Default: `5`.
- `any` (`any`): Schema: `{"not": {"type": "string"}}`.
- `free` (`any`): Examples: `1`, `"a"`.
- `` a `b`  `` (`"x" | 1`)
"#,
    );
}

#[test]
fn members_of_members_are_listed_below_them() {
    check(
        json!({"properties": {
            "rows": {"type": "array", "items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
            "by": {"type": "object", "additionalProperties": {"properties": {"x": {"type": "number"}}}},
            "pet": {"oneOf": [
                {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"], "description": "A cat"},
                {"properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
            ]},
            "id": {"anyOf": [{"type": "string"}, {"properties": {"n": {"type": "integer"}}}]},
            "order": {"oneOf": [{"const": "asc", "title": "Up"}, {"const": "desc", "title": "Down"}]},
            "pair": {"prefixItems": [{"type": "string"}, {"properties": {"x": {}}}], "minItems": 1},
        }}),
        r#"- `rows` (`object[]`)
  - `id` (`integer`, required)
- `by` (`{ [name]: object }`)
  - `x` (`number`)
- `pet` (`object`)
  - if `kind` is `"cat"`: A cat.
    - `kind` (`"cat"`, required)
    - `lives` (`integer`)
  - if `kind` is `"dog"`
    - `kind` (`"dog"`, required)
- `id` (`string | object`)
  - `object`
    - `n` (`integer`)
- `order` (`"asc" | "desc"`)
  - `"asc"`: Up
  - `"desc"`: Down
- `pair` (`[string, object?, ...any[]]`)
  - item 2 (`object`)
    - `x` (`any`)
"#,
    );
}

#[test]
fn other_members_are_mentioned() {
    check(
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "number", "minimum": 1}}),
        "- `a` (`any`)\n- any other name (`number`): At least 1.\n",
    );
    check(
        json!({"properties": {"a": {}}, "additionalProperties": true}),
        "- `a` (`any`)\n- any other name\n",
    );
    check(json!({"type": "object"}), "");
    check(json!({}), "");
}

#[test]
fn types_that_are_not_objects_are_described() {
    check(
        json!({"type": "array", "items": {"properties": {"a": {"type": "string"}}}, "minItems": 2}),
        "Type: `object[]`. At least 2 items.\n\n- `a` (`string`)\n",
    );
    check(
        json!({"type": "string", "format": "uri"}),
        "Type: `string`. Format `uri`.\n",
    );
}

#[test]
fn named_types_have_headings() {
    let shape = Shape::new(json!({
        "properties": {"a": {"$ref": "#/$defs/<Node>"}, "b": {"$ref": "#/$defs/B"}, "c": {"$ref": "#/$defs/C"}},
        "$defs": {
            "<Node>": {"description": "A node.\n\n# Not a heading", "properties": {"next": {"$ref": "#/$defs/<Node>"}}},
            "B": {"type": "string"},
            "C": {"description": "Anything"},
            "Unused": {},
        },
    }));
    assert_eq!(
        fields(&shape),
        "- `a` (`<Node>`)\n- `b` (`B`)\n- `c` (`C`)\n"
    );
    assert_eq!(
        named_types(&shape, 3),
        "### \\<Node>\n\nA node.\n\n\\# Not a heading\n\n- `next` (`<Node>`)\n\n### B\n\nType: `string`.\n\n### C\n\nAnything\n"
    );
}

#[test]
fn descriptions_cannot_break_the_list() {
    check(
        json!({"properties": {"a": {"type": "string", "description": "x\n\n- y\n## z\n```\n<!--"}}}),
        "- `a` (`string`): x\n\n  \\- y\n  \\## z\n  \\`\\`\\`\n  \\<!--\n",
    );
}

#[test]
fn large_schemas_are_described_in_part() {
    let many: Map<String, Value> = (0..20_000)
        .map(|at| {
            (
                format!("property {at}"),
                json!({"type": "string", "description": "x".repeat(500)}),
            )
        })
        .collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"properties": {"a": deep, "b": {"anyOf": [{"properties": {"c": {}}}, {"type": "null"}]}}});
    }
    for schema in [json!({"properties": many}), deep, json!({"$ref": "#"})] {
        let shape = Shape::new(schema);
        assert!(fields(&shape).len() < 10 << 20);
        assert!(named_types(&shape, 9).len() < 10 << 20);
    }
}
