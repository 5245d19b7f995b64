//! Tracking of the members of an object that a schema has evaluated.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    check::Check,
    keyword::{Keyword, Node, to_u64},
};

/// The members that were evaluated.
#[derive(Default)]
pub(super) struct Evaluated<'a> {
    all: bool,
    names: HashSet<&'a str>,
}

impl Evaluated<'_> {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// An object, as its members and as a value.
#[derive(Clone, Copy)]
struct Object<'a> {
    members: &'a Map<String, Value>,
    value: &'a Value,
}

impl Check<'_> {
    /// Returns the members that a schema has evaluated, itself or through
    /// schemas applied to the same object. Schemas that the object does not
    /// match do not count.
    pub(super) fn evaluated<'v>(
        &self,
        node: Node,
        members: &'v Map<String, Value>,
        value: &'v Value,
    ) -> Evaluated<'v> {
        let mut evaluated = Evaluated::default();
        self.collect_evaluated(node, Object { members, value }, &mut evaluated);
        evaluated
    }

    fn collect_evaluated<'v>(&self, node: Node, object: Object<'v>, evaluated: &mut Evaluated<'v>) {
        for keyword in &self.nodes[node] {
            // If all members are evaluated there is nothing to add.
            if evaluated.all || !self.budget.spend(1) {
                return;
            }
            self.collect_from_keyword(keyword, object, evaluated);
        }
    }

    /// `Unevaluated`, which asks, does not count itself.
    fn collect_from_keyword<'v>(
        &self,
        keyword: &Keyword,
        object: Object<'v>,
        evaluated: &mut Evaluated<'v>,
    ) {
        let Object { members, value } = object;
        match keyword {
            Keyword::Properties(nodes) => {
                self.budget.spend(to_u64(nodes.len()));
                let known = nodes
                    .iter()
                    .filter_map(|(name, _)| members.get_key_value(name));
                evaluated.names.extend(known.map(|(name, _)| &**name));
            }
            Keyword::PatternProperties(nodes) => {
                let matching = members
                    .keys()
                    .filter(|name| nodes.iter().any(|(it, _)| self.matches(it, name)));
                evaluated.names.extend(matching.map(|name| &**name));
            }
            Keyword::Additional { .. } => evaluated.all = true,
            Keyword::Ref(node) => self.collect_if_valid(*node, object, evaluated),
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                for node in nodes {
                    self.collect_if_valid(*node, object, evaluated);
                }
            }
            Keyword::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if self.is_valid(*condition, value) {
                    then
                } else {
                    otherwise
                };
                for node in [Some(*condition), *branch].into_iter().flatten() {
                    self.collect_if_valid(node, object, evaluated);
                }
            }
            Keyword::DependentSchemas(nodes) => {
                for (known, node) in nodes {
                    if members.contains_key(known) {
                        self.collect_if_valid(*node, object, evaluated);
                    }
                }
            }
            _ => {}
        }
    }

    fn collect_if_valid<'v>(&self, node: Node, object: Object<'v>, evaluated: &mut Evaluated<'v>) {
        if evaluated.all || !self.is_valid(node, object.value) {
            return;
        }
        let mut keywords = self.nodes[node].iter();
        // One of them has evaluated all members that the others have not.
        if keywords.any(|it| matches!(it, Keyword::Unevaluated { .. })) {
            evaluated.all = true;
        } else {
            self.collect_evaluated(node, object, evaluated);
        }
    }
}
