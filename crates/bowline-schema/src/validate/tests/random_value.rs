//! Random values that probably fit a schema, or nearly.

use proptest::{prelude::RngExt as _, test_runner::TestRng};
use serde_json::{Map, Value, json};

use super::random_schema::NAMES;

/// How deep values are.
const MAX_DEPTH: usize = 6;

/// Returns a value for a schema.
pub(super) fn value_for(schema: &Value, rng: &mut TestRng) -> Value {
    let mut sampler = Sampler { root: schema, rng };
    sampler.value(schema, MAX_DEPTH)
}

struct Sampler<'a, 'r> {
    root: &'a Value,
    rng: &'r mut TestRng,
}

impl<'a> Sampler<'a, '_> {
    /// Returns whether something happens that has this chance.
    fn happens(&mut self, chance: f64) -> bool {
        self.rng.random_bool(chance)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.random_range(0..choices.len())]
    }

    fn value(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Value::Object(members) = schema else {
            return self.any(depth);
        };
        if depth == 0 || self.happens(0.02) {
            return self.any(depth.min(1));
        }
        if let Some(only) = members.get("const") {
            return only.clone();
        }
        if let Some(Value::Array(options)) = members.get("enum") {
            return options[self.rng.random_range(0..options.len())].clone();
        }
        let own = self.own_value(members, depth);
        let Some(other) = self.in_place(members) else {
            return own;
        };
        match (own, self.value(other, depth - 1)) {
            (Value::Object(own), Value::Object(mut other)) => {
                other.extend(own);
                Value::Object(other)
            }
            (own, other) if members.contains_key("type") => {
                let is_same = std::mem::discriminant(&own) == std::mem::discriminant(&other);
                if is_same { other } else { own }
            }
            (_, other) => other,
        }
    }

    /// Returns one of the schemas that apply to the same value.
    fn in_place(&mut self, members: &'a Map<String, Value>) -> Option<&'a Value> {
        let mut others: Vec<&Value> = Vec::new();
        for key in ["allOf", "anyOf", "oneOf"] {
            others.extend(
                members
                    .get(key)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
        others.extend(["then", "else"].iter().filter_map(|key| members.get(*key)));
        let reference = members.get("$ref").and_then(Value::as_str);
        others.extend(
            reference.map(|reference| match reference.strip_prefix("#/") {
                Some(path) => self.root.pointer(&format!("/{path}")).expect("it is there"),
                None => self.root,
            }),
        );
        (!others.is_empty()).then(|| self.pick(&others))
    }

    /// Returns a value by the type, or by the keywords if there is none.
    fn own_value(&mut self, members: &'a Map<String, Value>, depth: usize) -> Value {
        let implied = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
        let kind = match members.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => {
                let at = self.rng.random_range(0..kinds.len());
                kinds[at].as_str().unwrap_or_default()
            }
            _ if implied(&["properties", "required", "patternProperties"]) => "object",
            _ if implied(&["items", "prefixItems", "contains"]) => "array",
            _ => "",
        };
        match kind {
            "null" => Value::Null,
            "boolean" => json!(self.happens(0.5)),
            "integer" => json!(self.pick(&[1, 2, 0, -1, 3])),
            "number" => self.number(),
            "string" => self.string(members),
            "array" => self.array(members, depth - 1),
            "object" => self.object(members, depth - 1),
            _ => self.any(depth),
        }
    }

    fn number(&mut self) -> Value {
        let numbers = [1.0, 2.0, 2.5, 0.5, 0.0, 3.0];
        let number = self.pick(&numbers);
        match number {
            whole if whole == 1.0 && self.happens(0.5) => json!(1),
            number => json!(number),
        }
    }

    fn string(&mut self, members: &Map<String, Value>) -> Value {
        let strings = ["a", "b", "ab", "a1b", "abb", "", "2026-07-28", "a@b.c"];
        let limit = |key: &str| members.get(key).and_then(Value::as_u64);
        let (min, max) = (limit("minLength"), limit("maxLength"));
        let fits = |text: &&str| {
            let length = text.len() as u64;
            min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
        };
        let fitting: Vec<&str> = strings.into_iter().filter(fits).collect();
        json!(self.pick(&fitting))
    }

    fn array(&mut self, members: &'a Map<String, Value>, depth: usize) -> Value {
        let prefix = members.get("prefixItems").and_then(Value::as_array);
        let prefix = prefix.map(Vec::as_slice).unwrap_or_default();
        let items = members.get("items").unwrap_or(&Value::Bool(true));
        let length = self.pick(&[1, 2, 1, 0, 2, 3]);
        let values = (0..length).map(|at| match (prefix.get(at), members.get("contains")) {
            (Some(schema), _) => self.value(schema, depth),
            (None, Some(contained)) if at + 1 == length => self.value(contained, depth),
            (None, _) => self.value(items, depth),
        });
        Value::Array(values.collect())
    }

    fn object(&mut self, members: &'a Map<String, Value>, depth: usize) -> Value {
        let mut object = Map::new();
        let required = members.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if self.happens(0.95) {
                let value = self.any(1);
                object.insert(name.to_owned(), value);
            }
        }
        let properties = members.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if schema.get("default").is_some() && self.happens(0.5) {
                object.remove(name);
            } else if object.contains_key(name) || self.happens(0.6) {
                let value = self.value(schema, depth);
                object.insert(name.clone(), value);
            }
        }
        if self.happens(0.25) {
            let name = self.pick(&NAMES);
            let additional = members.get("additionalProperties");
            let value = self.value(additional.unwrap_or(&Value::Bool(true)), depth);
            object.entry(name).or_insert(value);
        }
        Value::Object(object)
    }

    /// Returns a value that has nothing to do with a schema.
    fn any(&mut self, depth: usize) -> Value {
        let name = self.pick(&NAMES);
        match self.rng.random_range(0..12) {
            0 => json!(null),
            1 => json!(true),
            2 => json!(1),
            3 => json!(2.5),
            4 => json!("a"),
            5 => json!("ab"),
            6 if depth > 0 => json!([self.any(depth - 1)]),
            7 => json!([]),
            8 => json!({}),
            9 if depth > 0 => json!({name: self.any(depth - 1)}),
            10 => json!({name: 1, "c": 0}),
            _ => json!(1.0),
        }
    }
}
