//! The ways in which a schema can be met by an object: one for each alternative.

use crate::signature::{Budget, Kind, Schema};

/// How many parts of a schema are looked at for alternatives.
const MAX_PARTS: usize = 1_000;
/// How many alternatives are tried.
const MAX_ALTERNATIVES: usize = 256;
/// How many alternatives are followed into each other.
const DEEPEST: usize = 64;

/// One way to meet a schema: all of its parts apply.
#[derive(Clone, Debug)]
pub(super) struct View<'a> {
    pub(super) parts: Vec<Schema<'a>>,
}

impl<'a> View<'a> {
    /// All ways in which an object may meet a schema; at least one.
    pub(super) fn all(schema: Schema<'a>) -> Vec<Self> {
        let mut found = Vec::new();
        let budget = Budget::new(MAX_PARTS);
        gather(schema, &[], &budget, &mut found);
        if found.is_empty() {
            let parts = vec![schema.resolved()];
            found.push(Self { parts });
        }
        found
    }

    /// What is said of a member, described or not.
    pub(super) fn member(&self, name: &str) -> Option<Schema<'a>> {
        let properties = self.parts.iter().flat_map(|part| part.properties());
        let described = properties.into_iter().find(|it| it.name == name);
        let described = described.map(|property| property.schema);
        described.or_else(|| {
            let more = |part: &Schema<'a>| part.sub("additionalProperties");
            self.parts.iter().find_map(more)
        })
    }
}

fn gather<'a>(
    schema: Schema<'a>,
    outer: &[Schema<'a>],
    budget: &Budget,
    found: &mut Vec<View<'a>>,
) {
    let here = schema.resolved();
    // Alternatives may lead back to themselves, which adds nothing.
    let is_known = outer.iter().any(|part| part.place() == here.place());
    let is_too_much = found.len() >= MAX_ALTERNATIVES || outer.len() >= DEEPEST;
    if is_known || is_too_much || !budget.covers(here) {
        return;
    }
    let parts = [outer, &[here]].concat();
    let variants = here.variants();
    if variants.is_empty() {
        let kinds = here.kinds();
        if kinds.is_empty() || kinds.contains(&Kind::Object) {
            found.push(View { parts });
        }
        return;
    }
    for variant in variants {
        gather(variant, &parts, budget, found);
    }
}

/// What is said of a property, in each alternative that has it.
pub(super) fn property<'a>(schema: Schema<'a>, name: &str) -> Vec<Schema<'a>> {
    let views = View::all(schema).into_iter();
    let properties = views
        .flat_map(|view| view.parts)
        .flat_map(Schema::properties);
    let named = properties.filter(|property| property.name == name);
    named.map(|property| property.schema).collect()
}

/// Whether an object may stand there.
pub(super) fn takes_members(schema: Schema<'_>) -> bool {
    let views = View::all(schema);
    let mut parts = views.iter().flat_map(|view| &view.parts);
    parts.any(|part| part.kinds().contains(&Kind::Object) || !part.properties().is_empty())
}
