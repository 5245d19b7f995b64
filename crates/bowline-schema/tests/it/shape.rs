//! Shapes include every valid value.

use bowline_schema::{
    Validator,
    shape::{Additional, ObjectType, Shape, TupleType, Type, TypeKind},
};
use serde_json::{Map, Value, json};

/// Returns whether a value has a type.
fn has_type(shape: &Shape, ty: &Type, value: &Value) -> bool {
    if value.is_null() && ty.is_nullable {
        return true;
    }
    match (&ty.kind, value) {
        (TypeKind::Any, _) => true,
        (TypeKind::Never, _) => false,
        (TypeKind::Null, value) => value.is_null(),
        (TypeKind::Boolean, value) => value.is_boolean(),
        (TypeKind::Integer(_), value) => is_integer(value),
        (TypeKind::Number(_), value) => value.is_number(),
        (TypeKind::String(_), value) => value.is_string(),
        (TypeKind::Literals(literals), value) => {
            let mut values = literals.iter().map(|literal| &literal.value);
            values.any(|literal| are_equal(literal, value))
        }
        (TypeKind::Array(array), Value::Array(items)) => {
            items.iter().all(|item| has_type(shape, &array.items, item))
        }
        (TypeKind::Tuple(tuple), Value::Array(items)) => fits_tuple(shape, tuple, items),
        (TypeKind::Object(object), Value::Object(members)) => fits_object(shape, object, members),
        (TypeKind::Union(union), value) => {
            let mut variants = union.variants.iter();
            variants.any(|variant| has_type(shape, variant, value))
        }
        (TypeKind::Reference(id), value) => {
            let definition = shape.definition(*id);
            // A reference to itself is no type, so it has no end.
            is_reference_to_itself(shape, ty) || has_type(shape, &definition.ty, value)
        }
        _ => false,
    }
}

fn is_reference_to_itself(shape: &Shape, ty: &Type) -> bool {
    matches!(shape.resolve(ty).kind, TypeKind::Reference(_))
}

fn is_integer(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Compares as validation does: `1` equals `1.0`.
fn are_equal(one: &Value, other: &Value) -> bool {
    let schema = Validator::new(&json!({"const": one})).expect("a schema");
    schema.is_valid(other)
}

fn fits_tuple(shape: &Shape, tuple: &TupleType, items: &[Value]) -> bool {
    let (first, rest) = items.split_at(items.len().min(tuple.items.len()));
    let mut pairs = first.iter().zip(&tuple.items);
    items.len() >= tuple.min_items
        && pairs.all(|(item, ty)| has_type(shape, ty, item))
        && match &tuple.rest {
            Some(ty) => rest.iter().all(|item| has_type(shape, ty, item)),
            None => rest.is_empty(),
        }
}

fn fits_object(shape: &Shape, object: &ObjectType, members: &Map<String, Value>) -> bool {
    let has_field = |name: &str| object.fields.iter().any(|field| field.name == name);
    let fields = object
        .fields
        .iter()
        .all(|field| match members.get(&field.name) {
            Some(value) => has_type(shape, &field.ty, value),
            None => !field.is_required,
        });
    let mut others = members.iter().filter(|(name, _)| !has_field(name));
    fields
        && match &object.additional {
            Additional::Forbidden => others.next().is_none(),
            Additional::Typed(ty) => others.all(|(_, value)| has_type(shape, ty, value)),
            _ => true,
        }
}

/// Returns the schema with the types stated that shapes take for granted.
pub(crate) fn with_stated_types(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let stated = members.iter();
            let stated = stated.map(|(key, value)| (key.clone(), with_stated_types(value)));
            let mut stated: Map<String, Value> = stated.collect();
            let has = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
            let is_object = has(&[
                "properties",
                "additionalProperties",
                "patternProperties",
                "required",
            ]);
            let is_array = has(&["items", "prefixItems"]);
            if !has(&["type"]) && is_object != is_array {
                stated.insert(
                    "type".into(),
                    json!(if is_object { "object" } else { "array" }),
                );
            }
            stated.into()
        }
        Value::Array(items) => items.iter().map(with_stated_types).collect(),
        other => other.clone(),
    }
}

/// Tests with the official suite, which `cargo xtask peers` installs.
mod peers {
    use bowline_schema::{Validator, shape::Shape};

    use super::{has_type, with_stated_types};
    use crate::suite;

    #[test]
    fn every_valid_value_of_the_official_suite_has_the_type() {
        let (mut checked, mut told) = (0, 0);
        for group in suite::groups() {
            let schema = &group["schema"];
            let shape = Shape::new(schema.clone());
            let Ok(stated) = Validator::new(&with_stated_types(schema)) else {
                continue;
            };
            let plain = Validator::new(&shape.to_schema()).expect("a plain schema is valid");
            for test in suite::list(&group["tests"]) {
                let value = &test["data"];
                if test["valid"] == true && stated.is_valid(value) {
                    checked += 1;
                    assert!(
                        has_type(&shape, shape.root(), value),
                        "{value} of {schema:#}"
                    );
                    assert!(plain.is_valid(value), "{value} of {schema:#}");
                } else if test["valid"] == false && !has_type(&shape, shape.root(), value) {
                    told += 1;
                }
            }
        }
        // Shapes that allow everything would pass too.
        assert!(
            checked > 500 && told > 150,
            "{checked} valid, {told} invalid"
        );
    }
}

#[test]
fn large_schemas_have_a_type() {
    let chain = (0..10_000).map(|at| {
        let next = json!({"properties": {"next": {"$ref": format!("#/$defs/T{}", at + 1)}}});
        (format!("T{at}"), next)
    });
    let chain = json!({"$ref": "#/$defs/T0", "$defs": chain.collect::<Map<_, _>>()});
    // Spelled out, this has 2^40 parts.
    let doubled = (0..40).map(|at| {
        let next = json!({"$ref": format!("#/$defs/T{}", at + 1)});
        let member = json!({"properties": {(format!("p{at}")): {}}});
        (format!("T{at}"), json!({"allOf": [next, next, member]}))
    });
    let doubled = json!({"$ref": "#/$defs/T0", "$defs": doubled.collect::<Map<_, _>>()});
    let alternatives = (0..200).map(|at| json!({"properties": {(format!("p{at}")): {}}}));
    let alternatives: Vec<_> = alternatives.collect();
    let product: Vec<_> = (0..8).map(|_| json!({"anyOf": alternatives})).collect();
    let product = json!({"type": "object", "allOf": product});
    // Copied wherever it is used, this list would have 20 million values.
    let list = (0..20_000).map(|at| at.to_string()).collect::<Vec<_>>();
    let used = json!({"allOf": [{"$ref": "#/$defs/E"}, {"type": "string"}]});
    let copies = (0..1_000).map(|at| (format!("p{at}"), used.clone()));
    let copies = copies.collect::<Map<_, _>>();
    let copies = json!({"properties": copies, "$defs": {"E": {"enum": list}}});
    let names = (0..1_000).map(|at| format!("p{at}")).collect::<Vec<_>>();
    let members = names.iter().map(|name| (name.clone(), json!({})));
    let values = json!({"properties": members.collect::<Map<_, _>>()});
    let required = json!({"additionalProperties": values, "required": names});
    // The JSON Pointers of these schemas are much longer than the schemas.
    let long = "n".repeat(20_000);
    let members = (0..20_000).map(|at| (format!("m{at}"), json!({"type": "integer"})));
    let members = json!({"properties": members.collect::<Map<_, _>>(), "items": {"$ref": "#"}});
    let long_names = (0..40).fold(members, |inner, _| json!({"properties": {&*long: inner}}));
    let same = (0..20_000).map(|at| {
        (
            format!("D{at}"),
            json!({"$defs": {"T": {"type": "string"}}}),
        )
    });
    let used = (0..20_000).map(|at| json!({"$ref": format!("#/$defs/D{at}/$defs/T")}));
    let same_names =
        json!({"prefixItems": used.collect::<Vec<_>>(), "$defs": same.collect::<Map<_, _>>()});
    for (name, schema) in [
        ("chain", chain),
        ("doubled", doubled),
        ("product", product),
        ("copies", copies),
        ("required", required),
        ("long names", long_names),
        ("same names", same_names),
    ] {
        let shape = Shape::new(schema);
        assert!(!shape.resolve(shape.root()).is_any(), "{name}");
    }
}

#[test]
fn deep_schemas_have_a_type() {
    let mut schema = json!({"type": "string"});
    for _ in 0..10_000 {
        // `json!` would copy the inner schema recursively.
        let mut outer = Map::from_iter([("type".to_owned(), json!("array"))]);
        outer.insert("items".to_owned(), schema);
        schema = outer.into();
    }
    // Dropping a value of this depth would overflow the stack.
    let shape = std::mem::ManuallyDrop::new(Shape::new(schema));
    let mut ty = shape.root();
    let mut depth = 0;
    while let TypeKind::Array(array) = &ty.kind {
        (ty, depth) = (&array.items, depth + 1);
    }
    assert!(ty.is_any() && depth > 40, "{depth}");
}

#[test]
fn types_that_are_merged_with_themselves_end() {
    let shape = Shape::new(json!({
        "allOf": [
            {
                "properties": {"c": true},
                "additionalProperties": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/A"}]},
                "required": ["a"],
            },
            {"$ref": "#/$defs/A"},
        ],
        "$defs": {"A": {
            "properties": {"b": {"$ref": "#"}},
            "additionalProperties": {"properties": {"a": true}, "items": {"type": "string"}},
            "required": ["a"],
        }},
    }));
    assert!(shape.type_count() < 10_000, "{}", shape.type_count());
}
