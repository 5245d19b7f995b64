//! Named types, each spelled out once.

use std::collections::HashSet;

use super::{
    Budget,
    schema::Schema,
    type_name::{Detail, object_expression},
};

/// Maximum number of types shown.
const MAX_TYPES: usize = 100;
/// Maximum nesting of types.
const MAX_DEPTH: usize = 32;

/// How many lists and alternatives around a type are unwrapped.
const MAX_UNWRAPPED: usize = 4;

/// The named types reachable from a schema, in the order found.
pub(super) struct NamedTypes<'a> {
    /// Names and definitions.
    pub(super) types: Vec<(&'a str, String)>,
    detail: Detail,
    budget: &'a Budget,
    /// Visited schemas: types may be recursive.
    seen: HashSet<*const super::node::Node>,
}

impl<'a> NamedTypes<'a> {
    pub(super) fn new(detail: Detail, budget: &'a Budget) -> Self {
        Self {
            types: Vec::new(),
            detail,
            budget,
            seen: HashSet::new(),
        }
    }

    /// Visits everything reachable from a schema, breadth first.
    pub(super) fn collect(&mut self, schema: Schema<'a>) {
        let mut level = vec![schema];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for schema in level {
                self.add_named(schema);
                let resolved = schema.resolved();
                if self.seen.insert(resolved.identity()) && self.budget.spend_on(resolved) {
                    next.extend(child_schemas(resolved, self.budget));
                }
            }
            level = next;
        }
    }

    fn add_named(&mut self, schema: Schema<'a>) {
        let Some(name) = schema.reference() else {
            return;
        };
        if self.budget.is_exhausted() || self.types.len() >= MAX_TYPES {
            return;
        }
        // Only objects are referred to by name.
        let expression = object_expression(schema, self.detail, self.budget);
        let known = self
            .types
            .iter()
            .any(|(n, s)| *n == name && *s == expression);
        if !known && expression.starts_with("{ ") {
            self.types.push((name, expression));
        }
    }
}

/// Returns the subschemas.
fn child_schemas<'a>(schema: Schema<'a>, budget: &Budget) -> Vec<Schema<'a>> {
    let mut all: Vec<_> = schema.properties().iter().map(|it| it.schema).collect();
    all.extend(schema.items());
    all.extend(schema.subschema("additionalProperties"));
    all.extend(schema.variants());
    all.into_iter()
        .flat_map(|it| unwrap_schemas(it, MAX_UNWRAPPED, budget))
        .collect()
}

/// Returns the named types inside lists and alternatives, which belong to the
/// type that refers to them.
fn unwrap_schemas<'a>(schema: Schema<'a>, depth: usize, budget: &Budget) -> Vec<Schema<'a>> {
    if !budget.spend_on(schema) {
        return Vec::new();
    }
    let is_wrapper = schema.reference().is_none() && schema.properties().is_empty();
    match depth.checked_sub(1) {
        Some(depth) if is_wrapper => {
            let mut all: Vec<_> = schema.items().into_iter().collect();
            all.extend(schema.variants());
            if all.is_empty() {
                return vec![schema];
            }
            let all = all
                .into_iter()
                .flat_map(|it| unwrap_schemas(it, depth, budget));
            all.collect()
        }
        _ => vec![schema],
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Detail, NamedTypes};
    use crate::signature::Document;

    #[test]
    fn types_within_types_are_shown_once_each() {
        let document = Document::new(
            r##"{"properties": {
                "order": {"$ref": "#/$defs/Order"},
                "pet": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"type": "null"}]}
            }, "$defs": {
                "Order": {"properties": {
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                    "by": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Person"}}
                }},
                "Line": {"properties": {"part": {"$ref": "#/$defs/Line"}, "to": {"$ref": "#/$defs/Person"}}},
                "Person": {"properties": {"name": {"type": "string"}, "mood": {"$ref": "#/$defs/Mood"}}},
                "Mood": {"enum": ["good"]},
                "Cat": {"properties": {"owner": {"$ref": "#/$defs/Person"}}},
                "Unused": {"properties": {"a": {}}}
            }}"##,
        );
        let budget = Budget::default();
        let mut named = NamedTypes::new(Detail::PAGE, &budget);
        named.collect(document.schema());
        let found: Vec<_> = named
            .types
            .iter()
            .map(|(n, s)| format!("{n} = {s}"))
            .collect();
        assert_eq!(
            found,
            [
                "Order = { lines?: Line[], by?: { [name]: Person } }",
                "Cat = { owner?: Person }",
                "Line = { part?: Line, to?: Person }",
                "Person = { name?: string, mood?: \"good\" }",
            ]
        );
    }
}
