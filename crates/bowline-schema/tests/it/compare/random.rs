//! Random schemas, and random changes of them.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// A change of one schema in a document.
#[derive(Clone, Debug)]
pub(super) enum Mutation {
    /// Another schema takes its place.
    Replace(Value),
    /// It gets the keywords of another.
    Merge(Value),
    /// One of its keywords is removed.
    Remove(usize),
    /// One of its numbers becomes another.
    Nudge(usize, i64),
    /// It becomes one of several.
    Wrap(&'static str, Value),
    /// It gets a member.
    AddProperty(&'static str, Value),
    /// A member becomes required, or is no longer.
    ToggleRequired(&'static str),
    /// An array in it loses or gets an item.
    RemoveItem(usize),
    AddItem(usize, Value),
    /// Nothing that matters.
    Text,
}

/// A document with definitions that its schemas refer to.
pub(super) fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, one, two)| {
        let mut root = match root {
            Value::Object(members) => members,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        root.insert(
            "$defs".to_owned(),
            json!({"one": guarded(&one), "two": guarded(&two)}),
        );
        Value::Object(root)
    })
}

/// Returns a schema that never applies a reference to the same value.
fn guarded(schema: &Value) -> Value {
    json!({"type": ["object", "integer"], "properties": {"a": schema}})
}

pub(super) fn mutations() -> impl Strategy<Value = Vec<(usize, Mutation)>> {
    prop::collection::vec((any::<usize>(), mutation()), 1..4)
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let name = || select(vec!["a", "b", "c"]);
    prop_oneof![
        1 => schema().prop_map(Mutation::Replace),
        2 => leaf().prop_map(Mutation::Merge),
        3 => any::<usize>().prop_map(Mutation::Remove),
        4 => (any::<usize>(), -2..3_i64).prop_map(|(at, by)| Mutation::Nudge(at, by)),
        2 => (select(vec!["anyOf", "oneOf", "allOf"]), schema())
            .prop_map(|(how, other)| Mutation::Wrap(how, other)),
        3 => (name(), schema()).prop_map(|(name, schema)| Mutation::AddProperty(name, schema)),
        3 => name().prop_map(Mutation::ToggleRequired),
        2 => any::<usize>().prop_map(Mutation::RemoveItem),
        2 => (any::<usize>(), leaf()).prop_map(|(at, it)| Mutation::AddItem(at, it)),
        1 => Just(Mutation::Text),
    ]
}

/// Returns a document with the changes.
pub(super) fn mutate(document: &Value, mutations: &[(usize, Mutation)]) -> Value {
    let mut document = document.clone();
    for (at, mutation) in mutations {
        let mut pointers = Vec::new();
        collect_pointers(&document, String::new(), &mut pointers);
        // What changes in a definition that nothing uses does not matter.
        let text = document.to_string();
        let is_used = |name: &str| text.contains(&format!("\"#/$defs/{name}\""));
        pointers.retain(|it| {
            it.split('/')
                .nth(2)
                .is_none_or(|name| !it.starts_with("/$defs") || is_used(name))
        });
        let pointer = &pointers[at % pointers.len()];
        let schema = document.pointer_mut(pointer).expect("it exists");
        // Where the definitions are must not change.
        let defs = schema.as_object_mut().and_then(|it| it.remove("$defs"));
        apply(schema, mutation);
        if let Some(defs) = defs {
            if !schema.is_object() {
                *schema = json!({"allOf": [schema]});
            }
            schema["$defs"] = defs;
        }
    }
    document
}

/// Collects where the schemas of a document are.
fn collect_pointers(schema: &Value, pointer: String, pointers: &mut Vec<String>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let here = format!("{pointer}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs",
                _,
            ) => {
                for (name, value) in value.as_object().expect("schemas by name") {
                    collect_pointers(value, format!("{here}/{name}"), pointers);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", _) => {
                for (at, value) in value.as_array().expect("schemas").iter().enumerate() {
                    collect_pointers(value, format!("{here}/{at}"), pointers);
                }
            }
            (
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties",
                _,
            ) => collect_pointers(value, here, pointers),
            _ => {}
        }
    }
    pointers.push(pointer);
}

fn apply(schema: &mut Value, mutation: &Mutation) {
    match mutation {
        Mutation::Replace(other) => *schema = other.clone(),
        Mutation::Wrap(how, other) => *schema = json!({*how: [schema, other]}),
        Mutation::Merge(other) => {
            if let (Value::Object(own), Value::Object(other)) = (schema, other) {
                own.extend(other.clone());
            }
        }
        Mutation::Text => {
            if let Value::Object(own) = schema {
                own.insert("description".to_owned(), json!("new"));
            }
        }
        Mutation::Remove(at) => {
            if let Value::Object(own) = schema
                && !own.is_empty()
            {
                let name = own.keys().nth(at % own.len()).cloned();
                own.remove(&name.expect("it is one of them"));
            }
        }
        Mutation::Nudge(at, by) => nudge(schema, *at, *by),
        Mutation::AddProperty(name, other) => {
            if let Value::Object(own) = schema {
                let properties = own.entry("properties").or_insert(json!({}));
                properties[*name] = other.clone();
            }
        }
        Mutation::ToggleRequired(name) => {
            if let Value::Object(own) = schema {
                let required = own.entry("required").or_insert(json!([]));
                let required = required.as_array_mut().expect("an array");
                match required.iter().position(|it| it == name) {
                    Some(at) => drop(required.remove(at)),
                    None => required.push(json!(name)),
                }
            }
        }
        Mutation::RemoveItem(at) => {
            // A list of schemas or types must not be empty.
            if let Some(list) = list(schema, *at)
                && list.len() > 1
            {
                let at = at % list.len();
                list.remove(at);
            }
        }
        Mutation::AddItem(at, other) => {
            if let Some(list) = list(schema, *at)
                && list.iter().all(|it| it.is_object() || it.is_boolean())
            {
                list.push(other.clone());
            }
        }
    }
}

fn nudge(schema: &mut Value, at: usize, by: i64) {
    let members = schema.as_object_mut().into_iter().flatten();
    let numbers = members.filter(|(_, value)| value.is_i64());
    let mut numbers: Vec<_> = numbers.collect();
    let count = numbers.len();
    if count > 0 {
        let (keyword, value) = &mut numbers[at % count];
        let least = match keyword.as_str() {
            "multipleOf" => 1,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "const" => i64::MIN,
            _ => 0,
        };
        let number = value.as_i64().expect("an integer");
        **value = json!((number + by).max(least));
    }
}

fn list(schema: &mut Value, at: usize) -> Option<&mut Vec<Value>> {
    let members = schema.as_object_mut()?.iter_mut();
    let mut lists: Vec<_> = members
        .filter_map(|(_, value)| value.as_array_mut())
        .collect();
    let count = lists.len();
    (count > 0).then(|| lists.swap_remove(at % count))
}

/// Schemas without others in them.
fn leaf() -> impl Strategy<Value = Value> {
    let small = -2..5_i64;
    let count = 0..4_u64;
    let types = || {
        select(vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ])
    };
    let names = prop::collection::btree_set("[abc]", 0..3);
    prop_oneof![
        4 => types().prop_map(|it| json!({"type": it})),
        1 => prop::collection::btree_set(types(), 1..4).prop_map(|it| json!({"type": it})),
        3 => prop::collection::vec(value(), 1..4).prop_map(|it| json!({"enum": it})),
        2 => value().prop_map(|it| json!({"const": it})),
        2 => (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), small)
            .prop_map(|(key, it)| json!({key: it})),
        1 => (1..5_u64).prop_map(|it| json!({"multipleOf": it})),
        1 => select(vec![0.5, 1.5]).prop_map(|it| json!({"multipleOf": it})),
        3 => (
            select(vec![
                "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"
            ]),
            count
        )
            .prop_map(|(key, it)| json!({key: it})),
        1 => select(vec!["^a", "b$", "^[ab]*$"]).prop_map(|it| json!({"pattern": it})),
        1 => Just(json!({"uniqueItems": true})),
        2 => names.clone().prop_map(|it| json!({"required": it})),
        1 => names.prop_map(|it| json!({"dependentRequired": {"a": it}})),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({})),
        2 => select(vec!["one", "two"]).prop_map(|it| json!({"$ref": format!("#/$defs/{it}")})),
    ]
}

/// Schemas with others in them.
pub(super) fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        let named = prop::collection::btree_map("[abc]", inner.clone(), 1..3);
        let names = prop::collection::btree_set("[abc]", 0..3);
        let pattern = select(vec!["^a", "[bc]"]);
        let own = prop_oneof![
            6 => (named.clone(), names)
                .prop_map(|(it, names)| json!({"type": "object", "properties": it, "required": names})),
            2 => named.clone().prop_map(|it| json!({"properties": it})),
            2 => (named, inner.clone())
                .prop_map(|(it, rest)| json!({"properties": it, "additionalProperties": rest})),
            1 => (pattern, inner.clone(), inner.clone()).prop_map(|(pattern, it, rest)| {
                json!({"patternProperties": {pattern: it}, "additionalProperties": rest})
            }),
            2 => some.clone().prop_map(|it| json!({"anyOf": it})),
            2 => some.clone().prop_map(|it| json!({"oneOf": it})),
            2 => some.clone().prop_map(|it| json!({"allOf": it})),
            1 => inner.clone().prop_map(|it| json!({"not": it})),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            1 => inner.clone().prop_map(|it| json!({"dependentSchemas": {"a": it}})),
            2 => inner.clone().prop_map(|it| json!({"type": "array", "items": it})),
            1 => (some, inner.clone()).prop_map(|(it, rest)| json!({"prefixItems": it, "items": rest})),
            1 => (inner.clone(), 0..3_u64, 1..4_u64).prop_map(|(it, min, max)| {
                json!({"contains": it, "minContains": min, "maxContains": max})
            }),
            1 => inner.clone().prop_map(|it| json!({"propertyNames": it})),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(it, rest)| json!({"contains": it, "unevaluatedItems": rest})),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(it, rest)| json!({"prefixItems": [it], "unevaluatedItems": rest})),
            // As in older drafts.
            1 => (inner.clone(), inner.clone())
                .prop_map(|(it, rest)| json!({"items": [it], "additionalItems": rest})),
            1 => inner.clone().prop_map(|it| json!({"dependencies": {"a": it, "b": ["c"]}})),
            1 => inner.clone().prop_map(|it| json!({"unevaluatedProperties": it})),
        ];
        // Keywords of one schema are often beside those of another.
        (own, prop::option::of(leaf())).prop_map(|(mut own, beside)| {
            if let (Value::Object(own), Some(Value::Object(beside))) = (&mut own, beside) {
                for (keyword, value) in beside {
                    own.entry(keyword).or_insert(value);
                }
            }
            own
        })
    })
}

/// Values that schemas list.
fn value() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2.0),
        json!(1.5),
        json!("a"),
        json!("ab"),
        json!([1]),
        json!({"a": 1}),
        json!({"a": "a", "b": 1}),
    ])
}
