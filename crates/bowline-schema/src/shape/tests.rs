//! What becomes of schemas.

use serde_json::{Value, json};

use super::{Additional, Bound, Literal, ObjectType, Shape, Type, TypeKind};

/// Writes a type in short: `?` optional, `|null` nullable, `…` open, `!` recursive.
fn write(shape: &Shape, ty: &Type) -> String {
    let all = |types: &[Type]| -> Vec<String> { types.iter().map(|ty| write(shape, ty)).collect() };
    let text = match &ty.kind {
        TypeKind::Any => "any".to_owned(),
        TypeKind::Never => "never".to_owned(),
        TypeKind::Null => "null".to_owned(),
        TypeKind::Boolean => "boolean".to_owned(),
        TypeKind::Integer(number) => {
            format!(
                "integer{}",
                range(number.minimum.as_ref(), number.maximum.as_ref())
            )
        }
        TypeKind::Number(number) => {
            format!(
                "number{}",
                range(number.minimum.as_ref(), number.maximum.as_ref())
            )
        }
        TypeKind::String(string) => match &string.format {
            Some(format) => format!("string({format})"),
            None => "string".to_owned(),
        },
        TypeKind::Literals(literals) => {
            let written: Vec<_> = literals.iter().map(write_literal).collect();
            written.join("|")
        }
        TypeKind::Array(array) => format!("[{}*]", write(shape, &array.items)),
        TypeKind::Tuple(tuple) => {
            let mut items = all(&tuple.items);
            items
                .iter_mut()
                .skip(tuple.min_items)
                .for_each(|item| item.push('?'));
            items.extend(
                tuple
                    .rest
                    .iter()
                    .map(|rest| format!("{}*", write(shape, rest))),
            );
            format!("[{}]", items.join(","))
        }
        TypeKind::Object(object) => write_object(shape, object),
        TypeKind::Union(union) => {
            let tag = union.tag.as_ref().map(|tag| format!("{}: ", tag.name));
            format!(
                "({}{})",
                tag.unwrap_or_default(),
                all(&union.variants).join(" or ")
            )
        }
        TypeKind::Reference(id) => shape.definition(*id).name.clone(),
    };
    if ty.is_nullable { text + "|null" } else { text }
}

fn write_object(shape: &Shape, object: &ObjectType) -> String {
    let mut members: Vec<_> = object
        .fields
        .iter()
        .map(|field| {
            let mark = if field.is_required { "" } else { "?" };
            format!("{}{mark}: {}", field.name, write(shape, &field.ty))
        })
        .collect();
    match &object.additional {
        Additional::Forbidden => {}
        Additional::Unstated => members.push("…".to_owned()),
        Additional::Any => members.push("any…".to_owned()),
        Additional::Typed(ty) => members.push(format!("{}…", write(shape, ty))),
    }
    format!("{{{}}}", members.join(", "))
}

fn write_literal(literal: &Literal) -> String {
    match &literal.title {
        Some(title) => format!("{}({title})", literal.value),
        None => literal.value.to_string(),
    }
}

fn range(minimum: Option<&Bound>, maximum: Option<&Bound>) -> String {
    let show = |bound: Option<&Bound>| {
        bound.map_or(String::new(), |bound| {
            let mark = if bound.is_exclusive { "<" } else { "" };
            format!("{mark}{}", bound.value)
        })
    };
    match (minimum, maximum) {
        (None, None) => String::new(),
        _ => format!(" {}..{}", show(minimum), show(maximum)),
    }
}

#[track_caller]
fn check(schema: Value, expected: &str) {
    let text = schema.to_string();
    let shape = Shape::new(schema);
    let mut written = vec![write(&shape, shape.root())];
    for (_, definition) in shape.definitions() {
        let mark = if definition.is_recursive { "!" } else { "" };
        written.push(format!(
            "{}{mark} = {}",
            definition.name,
            write(&shape, &definition.ty)
        ));
    }
    assert_eq!(written.join("; "), expected, "{text}");
}

#[test]
fn simple_schemas_are_simple_types() {
    check(json!({}), "any");
    check(json!(true), "any");
    check(json!(false), "never");
    check(json!({"type": "string"}), "string");
    check(json!({"type": "string", "format": "date"}), "string(date)");
    check(
        json!({"type": "integer", "minimum": 1, "maximum": 9}),
        "integer 1..9",
    );
    check(
        json!({"type": "number", "exclusiveMinimum": 0}),
        "number <0..",
    );
    check(
        json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
        "number <0..",
    );
    check(
        json!({"type": "array", "items": {"type": "boolean"}}),
        "[boolean*]",
    );
    check(json!({"type": "array"}), "[any*]");
    check(json!({"type": "object"}), "{…}");
    check(
        json!({"type": "object", "additionalProperties": {"type": "number"}}),
        "{number…}",
    );
}

#[test]
fn required_optional_and_nullable_are_kept_apart() {
    let maybe = json!({"type": ["string", "null"]});
    check(
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": maybe, "d": maybe},
            "required": ["a", "c"],
            "additionalProperties": false,
        }),
        "{a: string, b?: string, c: string|null, d?: string|null}",
    );
}

#[test]
fn null_is_nullable_wherever_it_stands() {
    check(json!({"type": "null"}), "null");
    check(json!({"enum": ["a", null]}), r#""a"|null"#);
    check(
        json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
        "string|null",
    );
    check(json!({"type": "string", "nullable": true}), "string|null");
    check(
        json!({"anyOf": [{"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "string"}]}),
        "(integer or string)|null",
    );
    check(
        json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"type": "string"}}}),
        "A|null; A = string",
    );
    check(
        json!({"allOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]}),
        "null",
    );
}

#[test]
fn listed_values_are_literals() {
    check(json!({"const": 5}), "5");
    check(json!({"enum": ["a", "b", "a"]}), r#""a"|"b"|"a""#);
    check(
        json!({"type": "string", "enum": ["a", 1, "b"]}),
        r#""a"|"b""#,
    );
    check(
        json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"type": "null"}]}),
        r#""a"(A)|"b"(B)|null"#,
    );
    check(
        json!({"anyOf": [{"enum": ["a", "b"]}, {"type": "integer"}, {"const": "b"}]}),
        r#"("a"|"b" or integer)"#,
    );
    check(json!({"enum": []}), "never");
}

#[test]
fn positions_make_tuples() {
    let pair = json!([{"type": "string"}, {"type": "integer"}]);
    check(
        json!({"type": "array", "prefixItems": pair, "items": false, "minItems": 2}),
        "[string,integer]",
    );
    check(
        json!({"type": "array", "prefixItems": pair}),
        "[string?,integer?,any*]",
    );
    check(
        json!({"type": "array", "items": pair, "additionalItems": {"type": "null"}, "minItems": 1}),
        "[string,integer?,null*]",
    );
    check(
        json!({"type": "array", "prefixItems": pair, "maxItems": 1}),
        "[string?]",
    );
}

#[test]
fn unions_are_told_apart_by_a_constant() {
    let variant = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
    check(
        json!({"oneOf": [variant("a"), variant("b")]}),
        r#"(kind: {kind: "a", …} or {kind: "b", …})"#,
    );
    check(
        json!({"oneOf": [{"$ref": "#/$defs/A"}, variant("b")], "$defs": {"A": variant("a")}}),
        r#"(kind: A or {kind: "b", …}); A = {kind: "a", …}"#,
    );
    check(
        json!({"oneOf": [variant("a"), variant("a")]}),
        r#"({kind: "a", …} or {kind: "a", …})"#,
    );
    check(
        json!({"oneOf": [variant("a"), {"type": "string"}]}),
        r#"({kind: "a", …} or string)"#,
    );
}

#[test]
fn alternatives_inherit_what_is_beside_them() {
    check(
        json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
            "anyOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]}
            ],
        }),
        "({id: integer, a: string, …} or {id: integer, b: string, …})",
    );
    check(
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }),
        "{a?: string, b?: string, …}",
    );
    check(
        json!({"type": "string", "anyOf": [{"type": "integer"}, {"minLength": 2}]}),
        "string",
    );
}

#[test]
fn parts_are_merged() {
    check(
        json!({
            "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
            "$defs": {"Base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
        }),
        "{a: string, b: integer, …}; Base = {a: string, …}",
    );
    check(
        json!({"allOf": [{"$ref": "#/$defs/A"}], "description": "x", "$defs": {"A": {"type": "string"}}}),
        "A; A = string",
    );
    check(
        json!({"allOf": [{"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3, "maximum": 9}]}),
        "integer 3..9",
    );
    check(
        json!({"allOf": [{"type": "string"}, {"type": "integer"}]}),
        "never",
    );
    check(
        json!({"$ref": "#/$defs/A", "minLength": 2, "$defs": {"A": {"type": "string"}}}),
        "A; A = string",
    );
    check(
        json!({"allOf": [{"enum": ["a", "b", 1]}, {"type": "string"}]}),
        r#""a"|"b""#,
    );
    check(
        json!({"allOf": [{"$ref": "#/$defs/U"}, {"required": ["b"]}],
            "$defs": {"U": {"anyOf": [{"properties": {"b": {"type": "string"}}}, {"type": "string"}]}}}),
        "{b: string, …}; U = ({b?: string, …} or string)",
    );
}

#[test]
fn references_lead_anywhere_in_the_document() {
    check(
        json!({"properties": {
            "a": {"type": "object", "properties": {"x": {"type": "string"}}},
            "b": {"$ref": "#/properties/a/properties/x"},
            "c": {"$ref": "#point"},
            "d": {"$ref": "other.json#/x"}
        }, "$defs": {"P": {"$anchor": "point", "type": "integer"}}}),
        "{a?: {x?: x, …}, b?: x, c?: P, d?: any, …}; x = string; P = integer",
    );
}

#[test]
fn circles_end() {
    check(json!({"$ref": "#"}), "Root; Root! = Root");
    check(
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        "Root; Root! = Root",
    );
    check(
        json!({"title": "Node", "properties": {"next": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}}}),
        "Node; Node! = {next?: Node, all?: [Node*], …}",
    );
    check(
        json!({"$ref": "#/$defs/A", "$defs": {
            "A": {"properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"properties": {"a": {"$ref": "#/$defs/A"}, "c": {"$ref": "#/$defs/C"}}},
            "C": {"items": {"$ref": "#/$defs/C"}},
        }}),
        "A; A! = {b?: B, …}; B! = {a?: A, c?: C, …}; C = [C*]",
    );
    check(
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}}),
        "A; A = string",
    );
}

#[test]
fn what_is_closed_is_known() {
    let with =
        |key: &str, value: Value| json!({"type": "object", "properties": {"a": {}}, key: value});
    check(with("additionalProperties", json!(false)), "{a?: any}");
    check(with("additionalProperties", json!(true)), "{a?: any, any…}");
    check(with("unevaluatedProperties", json!(false)), "{a?: any}");
    check(
        with("patternProperties", json!({"^x": {"type": "string"}})),
        "{a?: any, any…}",
    );
    check(
        json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}),
        "{string…}",
    );
    check(
        json!({"type": "object", "unevaluatedProperties": false, "if": {"properties": {"b": {}}}}),
        "{any…}",
    );
    check(json!({"type": "object", "required": ["x"]}), "{x: any, …}");
}

#[test]
fn schemas_that_make_no_sense_have_a_type() {
    check(json!(5), "any");
    check(json!(null), "any");
    check(json!({"type": 5}), "any");
    check(json!({"type": "strnig"}), "any");
    check(json!({"type": ["string", "strnig"]}), "any");
    check(json!({"properties": [], "items": 7}), "any");
    check(
        json!({"type": "object", "properties": [1], "required": "a"}),
        "{…}",
    );
    check(json!({"anyOf": []}), "any");
    check(json!({"properties": {"a": {}}, "items": {}}), "any");
    check(json!({"$ref": "#/nowhere"}), "any");
    check(json!({"$ref": 5}), "any");
}

#[test]
fn annotations_are_kept() {
    let shape = Shape::new(json!({
        "properties": {"a": {"$ref": "#/$defs/A", "description": " Here ", "default": 5}},
        "$defs": {"A": {"type": "integer", "title": "An A", "deprecated": true}},
    }));
    let TypeKind::Object(object) = &shape.root().kind else {
        panic!("{:?}", shape.root());
    };
    let ty = &object.fields[0].ty;
    assert_eq!(ty.annotations.description.as_deref(), Some("Here"));
    assert_eq!(ty.annotations.default, Some(json!(5)));
    let resolved = shape.resolve(ty);
    assert_eq!(resolved.annotations.title.as_deref(), Some("An A"));
    assert!(resolved.annotations.is_deprecated);
    assert_eq!(shape.schema(resolved)["type"], "integer");
}
