//! The alternatives of a schema for an object.

use crate::signature::{Budget, Kind, Schema};

/// Maximum number of subschemas visited while collecting alternatives.
const MAX_SUBSCHEMAS: usize = 1_000;
/// Maximum number of alternatives tried.
const MAX_ALTERNATIVES: usize = 256;
/// Maximum nesting of alternatives.
const MAX_DEPTH: usize = 64;

/// One alternative: all of its schemas apply.
#[derive(Clone, Debug)]
pub(super) struct ObjectAlternative<'a> {
    pub(super) schemas: Vec<Schema<'a>>,
}

impl<'a> ObjectAlternative<'a> {
    /// Returns all alternatives for an object; at least one.
    pub(super) fn enumerate(schema: Schema<'a>) -> Vec<Self> {
        let mut found = Vec::new();
        let budget = Budget::new(MAX_SUBSCHEMAS);
        collect_alternatives(schema, &[], &budget, &mut found);
        if found.is_empty() {
            let parts = vec![schema.resolved()];
            found.push(Self { schemas: parts });
        }
        found
    }

    /// Returns the schema of a member, declared or additional.
    pub(super) fn member_schema(&self, name: &str) -> Option<Schema<'a>> {
        let properties = self.schemas.iter().flat_map(|part| part.properties());
        let declared = properties.into_iter().find(|it| it.name == name);
        let declared = declared.map(|property| property.schema);
        declared.or_else(|| {
            let additional = |part: &Schema<'a>| part.subschema("additionalProperties");
            self.schemas.iter().find_map(additional)
        })
    }
}

fn collect_alternatives<'a>(
    schema: Schema<'a>,
    outer: &[Schema<'a>],
    budget: &Budget,
    found: &mut Vec<ObjectAlternative<'a>>,
) {
    let resolved = schema.resolved();
    // A recursive alternative adds nothing.
    let is_recursive = outer
        .iter()
        .any(|part| part.identity() == resolved.identity());
    let is_over_limit = found.len() >= MAX_ALTERNATIVES || outer.len() >= MAX_DEPTH;
    if is_recursive || is_over_limit || !budget.spend_on(resolved) {
        return;
    }
    let parts = [outer, &[resolved]].concat();
    let variants = resolved.variants();
    if variants.is_empty() {
        let kinds = resolved.kinds();
        if kinds.is_empty() || kinds.contains(&Kind::Object) {
            found.push(ObjectAlternative { schemas: parts });
        }
        return;
    }
    for variant in variants {
        collect_alternatives(variant, &parts, budget, found);
    }
}

/// Returns the schema of a property in each alternative that declares it.
pub(super) fn property_schemas<'a>(schema: Schema<'a>, name: &str) -> Vec<Schema<'a>> {
    let alternatives = ObjectAlternative::enumerate(schema).into_iter();
    let properties = alternatives
        .flat_map(|alternative| alternative.schemas)
        .flat_map(Schema::properties);
    let named = properties.filter(|property| property.name == name);
    named.map(|property| property.schema).collect()
}

/// Returns whether the schema accepts an object.
pub(super) fn accepts_members(schema: Schema<'_>) -> bool {
    let alternatives = ObjectAlternative::enumerate(schema);
    let mut parts = alternatives
        .iter()
        .flat_map(|alternative| &alternative.schemas);
    parts.any(|part| part.kinds().contains(&Kind::Object) || !part.properties().is_empty())
}
