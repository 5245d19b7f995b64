//! Random values for random schemas.

use serde_json::{Map, Value, json};

use crate::random::{Random, WORDS};

/// Returns a value that is probably valid for a schema of a document.
pub(crate) fn value(random: &mut Random, schema: &Value, document: &Value, depth: usize) -> Value {
    if depth > 24 {
        // A type that requires itself has no values.
        return Value::Null;
    }
    if let Some(target) = schema["$ref"].as_str() {
        let target = document.pointer(target.trim_start_matches('#'));
        return value(random, target.expect("it exists"), document, depth + 1);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(variants) = schema[key].as_array() {
            let variant = random.pick(variants);
            return value(random, variant, document, depth);
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut merged = Map::new();
        for part in parts {
            if let Value::Object(members) = value(random, part, document, depth) {
                merged.extend(members);
            }
        }
        return merged.into();
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return random.pick(values).clone();
    }
    let types = match &schema["type"] {
        Value::Array(types) => random.pick(types).clone(),
        one => one.clone(),
    };
    match types.as_str() {
        Some("null") => Value::Null,
        Some("boolean") => json!(random.one_in(2)),
        Some("integer") => {
            json!(*random.pick(&[-3_i64, 0, 3, 4_000_000_000, -4_503_599_627_370_497]))
        }
        Some("number") => random
            .pick(&[json!(1.5), json!(-2), json!(0), json!(0.1)])
            .clone(),
        Some("string") => json!(random.pick(&WORDS)),
        Some("array") => array_value(random, schema, document, depth),
        Some("object") => object_value(random, schema, document, depth),
        _ => any_value(random),
    }
}

fn any_value(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!({"a": [null, 1.5]}),
        json!([]),
        json!("x"),
        json!(7),
    ];
    random.pick(&values).clone()
}

fn array_value(random: &mut Random, schema: &Value, document: &Value, depth: usize) -> Value {
    let mut items = Vec::new();
    for item in schema["prefixItems"].as_array().into_iter().flatten() {
        items.push(value(random, item, document, depth + 1));
    }
    if schema["items"] == false {
        return items.into();
    }
    if items.is_empty() || random.one_in(2) {
        let count = if depth > 6 { 0 } else { random.below(3) };
        let more = (0..count).map(|_| match schema.get("items") {
            Some(item) => value(random, item, document, depth + 1),
            None => any_value(random),
        });
        items.extend(more.collect::<Vec<_>>());
    } else if schema.get("minItems").is_none() {
        items.truncate(random.below(items.len() + 1));
    }
    items.into()
}

fn object_value(random: &mut Random, schema: &Value, document: &Value, depth: usize) -> Value {
    let mut members = Map::new();
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if is_required(name) || (depth < 6 && random.one_in(2)) {
            members.insert(name.clone(), value(random, property, document, depth + 1));
        }
    }
    let more = if depth < 6 { random.below(3) } else { 0 };
    for at in 0..more {
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(others) => {
                let value = value(random, others, document, depth + 1);
                members.insert(format!("more {at}"), value);
            }
            None => drop(members.insert(format!("more{at}"), any_value(random))),
        }
    }
    members.into()
}
