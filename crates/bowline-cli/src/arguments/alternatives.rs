//! The ways in which a schema can be met by an object: one for each alternative.

use crate::signature::{Budget, Kind, Schema};

/// How many parts of a schema are looked at for alternatives.
const MAX_SUBSCHEMAS: usize = 1_000;
/// How many alternatives are tried.
const MAX_ALTERNATIVES: usize = 256;
/// How many alternatives are followed into each other.
const MAX_DEPTH: usize = 64;

/// One way to meet a schema: all of its parts apply.
#[derive(Clone, Debug)]
pub(super) struct ObjectAlternative<'a> {
    pub(super) schemas: Vec<Schema<'a>>,
}

impl<'a> ObjectAlternative<'a> {
    /// All ways in which an object may meet a schema; at least one.
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

    /// What is said of a member, described or not.
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
    // Alternatives may lead back to themselves, which adds nothing.
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

/// What is said of a property, in each alternative that has it.
pub(super) fn property_schemas<'a>(schema: Schema<'a>, name: &str) -> Vec<Schema<'a>> {
    let alternatives = ObjectAlternative::enumerate(schema).into_iter();
    let properties = alternatives
        .flat_map(|alternative| alternative.schemas)
        .flat_map(Schema::properties);
    let named = properties.filter(|property| property.name == name);
    named.map(|property| property.schema).collect()
}

/// Whether an object may stand there.
pub(super) fn accepts_members(schema: Schema<'_>) -> bool {
    let alternatives = ObjectAlternative::enumerate(schema);
    let mut parts = alternatives
        .iter()
        .flat_map(|alternative| &alternative.schemas);
    parts.any(|part| part.kinds().contains(&Kind::Object) || !part.properties().is_empty())
}
