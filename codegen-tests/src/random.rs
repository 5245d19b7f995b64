//! Random schemas.
//!
//! The build script makes clients for the schemas, and the tests make the same schemas
//! again to check what the clients do, so both must be the same for the same seed.

use serde_json::{Map, Value, json};

/// A generator of numbers that is the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number (SplitMix64).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = limit as u64;
        (self.next() % limit) as usize
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len());
        &items[at]
    }
}

/// Names that are keywords, collide or need a rename.
const NAMES: [&str; 14] = [
    "id", "name", "type", "fooBar", "foo_bar", "kind", "self", "2nd", "a-b", "größe", "Value",
    "extra", "", "new",
];
pub(crate) const WORDS: [&str; 8] = ["a", "b", "red", "Red", "dark red", "<=", "42", "self"];

/// Returns a random schema for a document.
pub(crate) fn document(random: &mut Random, is_object: bool) -> Value {
    let mut schema = match is_object {
        true => loop {
            let schema = object(random, 3);
            if schema["properties"] != json!({}) {
                break schema;
            }
        },
        false => schema(random, 3),
    };
    let definitions = [
        ("Leaf", schema_of(random, 1)),
        ("Node", object(random, 2)),
        (
            "list",
            json!({"type": "array", "items": {"$ref": "#/$defs/list"}}),
        ),
    ];
    if let Value::Object(members) = &mut schema {
        let definitions = definitions.map(|(name, schema)| (name.to_owned(), schema));
        members.insert("$defs".to_owned(), Map::from_iter(definitions).into());
    }
    schema
}

fn schema_of(random: &mut Random, depth: usize) -> Value {
    let mut schema = schema(random, depth);
    if random.one_in(4) && schema.is_object() {
        schema["description"] =
            json!("What it is.\n```rust\nfail!()\n```\n    and why */ \u{202e}");
    }
    schema
}

fn schema(random: &mut Random, depth: usize) -> Value {
    let kinds = if depth == 0 { 8 } else { 15 };
    match random.below(kinds) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer", "minimum": random.pick(&[-5, 0, 3])}),
        2 => json!({"type": ["string", "null"]}),
        3 => json!({"type": "number"}),
        4 => json!({"type": "boolean"}),
        5 => literals(random),
        6 => random
            .pick(&[json!(true), json!({}), json!({"type": "null"})])
            .clone(),
        7 => {
            let target = random.pick(&["#/$defs/Leaf", "#/$defs/Node", "#/$defs/list"]);
            json!({"$ref": target})
        }
        8 | 9 => object(random, depth - 1),
        10 => json!({"type": "array", "items": schema_of(random, depth - 1)}),
        11 => tuple(random, depth - 1),
        12 => json!({"type": "object", "additionalProperties": schema_of(random, depth - 1)}),
        13 => union(random, depth - 1),
        _ => {
            let parts = [object(random, depth - 1), object(random, depth - 1)];
            json!({"allOf": parts})
        }
    }
}

fn literals(random: &mut Random) -> Value {
    let count = 1 + random.below(4);
    let words: Vec<Value> = (0..count).map(|_| json!(random.pick(&WORDS))).collect();
    match random.below(5) {
        0 => json!({"const": words[0]}),
        1 => json!({"enum": [1, 2, 3]}),
        2 => json!({"enum": [null, "a", 1]}),
        3 => json!({"oneOf": [{"const": "x", "title": "The x"}, {"const": "y"}]}),
        _ => json!({"type": "string", "enum": words}),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let count = random.below(5);
    let mut properties = Map::new();
    for _ in 0..count {
        let name = *random.pick(&NAMES);
        properties.insert(name.to_owned(), schema_of(random, depth));
    }
    let required: Vec<String> = properties
        .keys()
        .filter(|_| random.one_in(2))
        .cloned()
        .collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    match random.below(4) {
        0 => schema["additionalProperties"] = json!(false),
        1 => schema["additionalProperties"] = schema_of(random, depth.min(1)),
        _ => {}
    }
    schema
}

fn tuple(random: &mut Random, depth: usize) -> Value {
    let items: Vec<Value> = (0..=random.below(3))
        .map(|_| schema_of(random, depth))
        .collect();
    match random.one_in(2) {
        true => json!({
            "type": "array", "minItems": items.len(), "prefixItems": items, "items": false
        }),
        false => json!({"type": "array", "prefixItems": items}),
    }
}

fn union(random: &mut Random, depth: usize) -> Value {
    let count = 2 + random.below(2);
    if random.one_in(2) {
        let mut variants: Vec<Value> = (0..count).map(|_| schema_of(random, depth)).collect();
        if random.one_in(3) {
            variants.push(json!({"type": "null"}));
        }
        return json!({"anyOf": variants});
    }
    let variants = ["cat", "dog", "house mouse"]
        .iter()
        .take(count)
        .map(|kind| {
            let mut variant = object(random, depth);
            variant["properties"]["kind"] = json!({"const": kind});
            let required = variant["required"].as_array_mut().expect("a list");
            required.retain(|name| name != "kind");
            required.push(json!("kind"));
            variant
        });
    let variants: Vec<Value> = variants.collect();
    json!({"oneOf": variants})
}
