//! Values that are likely to be valid for a schema, or nearly so.

use proptest::{prelude::Rng, test_runner::TestRng};
use serde_json::{Map, Value, json};

/// How deep samples are.
const MAX_DEPTH: u32 = 5;

/// Returns a value for a schema of a document.
pub(super) fn sample(document: &Value, schema: &Value, rng: &mut TestRng) -> Value {
    Sampler { document, rng }.sample(schema, 0)
}

struct Sampler<'a> {
    document: &'a Value,
    rng: &'a mut TestRng,
}

impl Sampler<'_> {
    fn sample(&mut self, schema: &Value, depth: u32) -> Value {
        if depth > MAX_DEPTH || self.chance(10) {
            return self.any_value(depth);
        }
        let Some(members) = schema.as_object() else {
            return self.any_value(depth);
        };
        if let Some(value) = members.get("const") {
            return value.clone();
        }
        if let Some(values) = members.get("enum").and_then(Value::as_array)
            && !values.is_empty()
        {
            return values[self.below(values.len())].clone();
        }
        let own = self.own(members, depth);
        self.in_place(members, depth).into_iter().fold(own, merge)
    }

    /// Samples the schemas that are applied to the same value.
    fn in_place(&mut self, members: &Map<String, Value>, depth: u32) -> Vec<Value> {
        let mut found = Vec::new();
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            let target = self.document.pointer(&reference[1..]);
            found.push(self.sample(target.expect("it exists"), depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(list) = members.get(keyword).and_then(Value::as_array) {
                let one = &list[self.below(list.len())];
                found.push(self.sample(one, depth + 1));
            }
        }
        for all in members
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            found.push(self.sample(all, depth + 1));
        }
        for keyword in ["if", "then", "else", "not"] {
            if let Some(schema) = members.get(keyword)
                && self.chance(30)
            {
                found.push(self.sample(schema, depth + 1));
            }
        }
        found
    }

    /// Samples the keywords that are not in place.
    fn own(&mut self, members: &Map<String, Value>, depth: u32) -> Value {
        let types: Vec<&str> = match members.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => likely_types(members),
        };
        match types[self.below(types.len())] {
            "null" => Value::Null,
            "boolean" => json!(self.chance(50)),
            "integer" => self.number(members, false),
            "number" => self.number(members, true),
            "string" => self.text(members),
            "array" => self.array(members, depth),
            _ => self.object(members, depth),
        }
    }

    fn number(&mut self, members: &Map<String, Value>, has_fraction: bool) -> Value {
        let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let bounds = keywords
            .into_iter()
            .filter_map(|it| members.get(it)?.as_f64());
        let bounds: Vec<f64> = bounds.chain([0.0]).collect();
        let near = bounds[self.below(bounds.len())];
        let factor = members.get("multipleOf").and_then(Value::as_f64);
        let factor = factor.unwrap_or(1.0);
        let number = near + factor * (self.below(5) as f64 - 2.0);
        match has_fraction && self.chance(40) {
            true => json!(number + 0.5),
            false if number.fract() == 0.0 && self.chance(70) => json!(number as i64),
            false => json!(number),
        }
    }

    fn text(&mut self, members: &Map<String, Value>) -> Value {
        let limits = ["minLength", "maxLength"].into_iter();
        let limits = limits.filter_map(|it| members.get(it)?.as_u64());
        let limits: Vec<u64> = limits.chain([1, 2]).collect();
        let length = limits[self.below(limits.len())] + self.below(2) as u64;
        let letters = (0..length).map(|_| ['a', 'b', 'c'][self.below(3)]);
        json!(letters.collect::<String>())
    }

    fn array(&mut self, members: &Map<String, Value>, depth: u32) -> Value {
        let limits = ["minItems", "maxItems", "minContains", "maxContains"].into_iter();
        let limits = limits.filter_map(|it| members.get(it)?.as_u64());
        let first = members.get("prefixItems").and_then(Value::as_array);
        let first: &[Value] = first.map_or(&[], Vec::as_slice);
        let limits: Vec<u64> = limits.chain([0, 1, 2, first.len() as u64]).collect();
        let length = limits[self.below(limits.len())] as usize + self.below(2);
        let any = json!(true);
        let rest = members.get("items").unwrap_or(&any);
        let contained = members.get("contains");
        let items = (0..length).map(|at| {
            let schema = first.get(at).unwrap_or(rest);
            let contained = contained.filter(|_| self.chance(60));
            self.sample(contained.unwrap_or(schema), depth + 1)
        });
        items.collect()
    }

    fn object(&mut self, members: &Map<String, Value>, depth: u32) -> Value {
        let properties = members.get("properties");
        let required = members.get("required").and_then(Value::as_array);
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        let by_pattern = patterns.and_then(|it| it.values().next());
        let others = members.get("additionalProperties");
        let others = others.or_else(|| members.get("unevaluatedProperties"));
        let mut object = Map::new();
        for name in ["a", "b", "c"] {
            let schema = properties.and_then(|it| it.get(name));
            let is_required = required.is_some_and(|it| it.iter().any(|it| it == name));
            let percent = match (is_required, schema) {
                (true, _) => 90,
                (_, Some(_)) => 60,
                _ => 25,
            };
            if self.chance(percent) {
                let other = if self.chance(50) { by_pattern } else { others };
                let any = json!(true);
                let schema = schema.or(other).unwrap_or(&any);
                let value = self.sample(schema, depth + 1);
                object.insert(name.to_owned(), value);
            }
        }
        Value::Object(object)
    }

    fn any_value(&mut self, depth: u32) -> Value {
        let leaves = [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(1),
            json!(-1.5),
            json!(2.0),
            json!(3),
            json!(""),
            json!("a"),
            json!("bc"),
            json!([]),
            json!({}),
        ];
        let at = self.below(leaves.len() + 4);
        match leaves.get(at) {
            Some(leaf) => leaf.clone(),
            None if depth > MAX_DEPTH => Value::Null,
            None if at.is_multiple_of(2) => self.array(&Map::new(), depth + 2),
            None => self.object(&Map::new(), depth + 2),
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.rng.next_u32() as usize) % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Combines samples of schemas that hold for the same value.
fn merge(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Value::Object(one)
        }
        (_, other) => other,
    }
}

/// Returns the types that the keywords of a schema are about.
fn likely_types(members: &Map<String, Value>) -> Vec<&'static str> {
    let about = [
        (
            "object",
            [
                "properties",
                "required",
                "additionalProperties",
                "minProperties",
                "maxProperties",
                "patternProperties",
                "propertyNames",
                "dependentSchemas",
                "dependentRequired",
                "unevaluatedProperties",
            ]
            .as_slice(),
        ),
        (
            "array",
            [
                "items",
                "prefixItems",
                "contains",
                "minItems",
                "maxItems",
                "uniqueItems",
            ]
            .as_slice(),
        ),
        (
            "number",
            [
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ]
            .as_slice(),
        ),
        ("string", ["minLength", "maxLength", "pattern"].as_slice()),
    ];
    let likely = about.into_iter().filter(|(_, keywords)| {
        keywords
            .iter()
            .any(|keyword| members.contains_key(*keyword))
    });
    let likely: Vec<_> = likely.map(|(name, _)| name).collect();
    match likely.is_empty() {
        true => vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ],
        false => likely,
    }
}
