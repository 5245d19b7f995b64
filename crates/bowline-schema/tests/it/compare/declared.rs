//! The values that the exception of `compare` is not about: those of which every member
//! is mentioned by the schema.
//!
//! It follows the definition in the documentation of `compare`, on values.

use std::collections::BTreeSet;

use bowline_schema::Validator;
use serde_json::{Map, Value, json};

const ABOUT_OTHERS: [&str; 6] = [
    "additionalProperties",
    "maxProperties",
    "minProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
];

/// Returns whether all members of a valid value are mentioned.
pub(super) fn is_declared(document: &Value, value: &Value) -> bool {
    Declared { document }.holds(vec![document], Vec::new(), value)
}

struct Declared<'a> {
    document: &'a Value,
}

impl<'a> Declared<'a> {
    /// Returns whether there is a choice of alternatives, all valid for the value, that
    /// mention its members.
    fn holds(&self, schemas: Vec<&'a Value>, decided: Vec<*const Value>, value: &Value) -> bool {
        let schemas = self.flatten(schemas);
        let unions = schemas.iter().flat_map(|schema| {
            let keywords = ["anyOf", "oneOf"].into_iter();
            keywords.filter_map(|keyword| schema.get(keyword))
        });
        let open = unions.filter(|union| !decided.contains(&std::ptr::from_ref(*union)));
        let Some(union) = open.into_iter().next() else {
            return self.members_are_declared(&schemas, value);
        };
        let mut decided = decided;
        decided.push(std::ptr::from_ref(union));
        union.as_array().into_iter().flatten().any(|alternative| {
            let mut schemas = schemas.clone();
            schemas.push(alternative);
            self.is_valid(alternative, value) && self.holds(schemas, decided.clone(), value)
        })
    }

    fn members_are_declared(&self, schemas: &[&'a Value], value: &Value) -> bool {
        let is_root = |schema: &&&Value| std::ptr::eq(**schema, self.document);
        match value {
            Value::Object(members) => {
                let describes_object = schemas
                    .iter()
                    .any(|schema| is_root(&schema) || schema.get("properties").is_some());
                let says_more = schemas
                    .iter()
                    .any(|schema| ABOUT_OTHERS.iter().any(|it| schema.get(it).is_some()));
                let mentioned = self.mentioned(schemas);
                let is_mentioned = |name: &String| {
                    says_more
                        || !describes_object
                        || mentioned.as_ref().is_none_or(|all| all.contains(name))
                };
                members.iter().all(|(name, member)| {
                    let parts = schemas.iter().flat_map(|it| member_schemas(it, name));
                    is_mentioned(name) && self.holds(parts.collect(), Vec::new(), member)
                })
            }
            Value::Array(items) => items.iter().enumerate().all(|(at, item)| {
                let parts = schemas.iter().filter_map(|it| item_schema(it, at));
                self.holds(parts.collect(), Vec::new(), item)
            }),
            _ => true,
        }
    }

    /// Returns the names that schemas mention, or `None` if that may be all.
    fn mentioned(&self, schemas: &[&'a Value]) -> Option<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut pending: Vec<(&Value, bool)> = schemas.iter().map(|it| (*it, true)).collect();
        let mut seen: Vec<*const Value> = Vec::new();
        while let Some((schema, is_own)) = pending.pop() {
            if seen.contains(&std::ptr::from_ref(schema)) {
                continue;
            }
            seen.push(schema);
            if !is_own && ABOUT_OTHERS.iter().any(|it| schema.get(it).is_some()) {
                return None;
            }
            let Some(members) = schema.as_object() else {
                continue;
            };
            found.extend(keys(members, "properties"));
            found.extend(strings(members.get("required")));
            for keyword in ["dependentSchemas", "dependentRequired", "dependencies"] {
                let all = members.get(keyword).and_then(Value::as_object);
                for (name, needed) in all.into_iter().flatten() {
                    found.insert(name.clone());
                    found.extend(strings(Some(needed)));
                    pending.push((needed, false));
                }
            }
            for keyword in ["if", "then", "else", "not"] {
                pending.extend(members.get(keyword).map(|it| (it, false)));
            }
            if !is_own {
                for keyword in ["anyOf", "oneOf", "allOf"] {
                    let list = members.get(keyword).and_then(Value::as_array);
                    pending.extend(list.into_iter().flatten().map(|it| (it, false)));
                }
                pending.extend(self.target(schema).map(|it| (it, false)));
            }
        }
        Some(found)
    }

    fn flatten(&self, schemas: Vec<&'a Value>) -> Vec<&'a Value> {
        let mut flat: Vec<&Value> = Vec::new();
        let mut pending = schemas;
        pending.reverse();
        while let Some(schema) = pending.pop() {
            if flat.iter().any(|it| std::ptr::eq(*it, schema)) {
                continue;
            }
            flat.push(schema);
            pending.extend(self.target(schema));
            let all_of = schema.get("allOf").and_then(Value::as_array);
            pending.extend(all_of.into_iter().flatten());
        }
        flat
    }

    fn target(&self, schema: &Value) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.document.pointer(&reference[1..])
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        let schema = json!({"allOf": [schema], "$defs": self.document["$defs"]});
        Validator::new(&schema).expect("a schema").is_valid(value)
    }
}

fn keys(members: &Map<String, Value>, keyword: &str) -> Vec<String> {
    let named = members.get(keyword).and_then(Value::as_object);
    named.into_iter().flat_map(Map::keys).cloned().collect()
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn member_schemas<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    let property = schema.get("properties").and_then(|it| it.get(name));
    let mut found: Vec<&Value> = property.into_iter().collect();
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    for (pattern, part) in patterns.into_iter().flatten() {
        let pattern = Validator::new(&json!({"pattern": pattern})).expect("a pattern");
        if pattern.is_valid(&json!(name)) {
            found.push(part);
        }
    }
    if found.is_empty() {
        found.extend(schema.get("additionalProperties"));
        found.extend(schema.get("unevaluatedProperties"));
    }
    found
}

fn item_schema(schema: &Value, at: usize) -> Option<&Value> {
    if let Some(Value::Array(first)) = schema.get("items") {
        return first.get(at).or_else(|| schema.get("additionalItems"));
    }
    let first = schema.get("prefixItems").and_then(|it| it.get(at));
    let rest = || {
        schema
            .get("items")
            .or_else(|| schema.get("unevaluatedItems"))
    };
    first.or_else(rest)
}
