//! Tracking of the items and members that a schema has evaluated.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    check::Check,
    keyword::{Keyword, Node},
    member_table::MemberTable,
};

/// The items of an array, or the members of an object, that were evaluated.
#[derive(Default)]
pub(super) struct Evaluated<'a> {
    all: bool,
    /// The number of items at the start.
    first_items: usize,
    other_items: HashSet<usize>,
    names: HashSet<&'a str>,
}

impl Evaluated<'_> {
    pub(super) fn contains_member(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }

    pub(super) fn contains_item(&self, index: usize) -> bool {
        self.all || index < self.first_items || self.other_items.contains(&index)
    }
}

impl Check<'_> {
    /// Returns what a schema has evaluated, itself or through schemas applied to
    /// the same value. Schemas that the value does not match do not count.
    pub(super) fn evaluated<'v>(&mut self, node: Node, value: &'v Value) -> Evaluated<'v> {
        let mut evaluated = Evaluated::default();
        self.collect_evaluated(node, value, &mut evaluated);
        evaluated
    }

    fn collect_evaluated<'v>(
        &mut self,
        node: Node,
        value: &'v Value,
        evaluated: &mut Evaluated<'v>,
    ) {
        let schema = &self.compiled.nodes[node];
        if let (Some(table), Value::Object(members)) = (&schema.members, value) {
            self.collect_names(table, members.keys().map(String::as_str), evaluated);
        }
        for keyword in &schema.keywords {
            // If everything is evaluated there is nothing to add.
            if evaluated.all || !self.budget.spend(1) {
                return;
            }
            if let Value::Array(items) = value {
                self.collect_items(keyword, items, evaluated);
            }
            self.collect_in_place(keyword, value, evaluated);
        }
    }

    /// `UnevaluatedItems`, which asks, does not count itself.
    fn collect_items(&mut self, keyword: &Keyword, items: &[Value], evaluated: &mut Evaluated<'_>) {
        match keyword {
            Keyword::PrefixItems(nodes) => {
                evaluated.first_items = evaluated.first_items.max(nodes.len());
            }
            Keyword::Items(..) => evaluated.all = true,
            Keyword::Contains { node, .. } => {
                let matching = items.iter().enumerate();
                let matching = matching.filter(|(_, item)| self.is_valid(*node, item));
                evaluated.other_items.extend(matching.map(|(at, _)| at));
            }
            _ => {}
        }
    }

    /// `UnevaluatedProperties`, which asks, does not count itself.
    fn collect_names<'v>(
        &self,
        table: &MemberTable,
        names: impl Iterator<Item = &'v str>,
        evaluated: &mut Evaluated<'v>,
    ) {
        evaluated.all |= table.additional.is_some();
        if evaluated.all {
            return;
        }
        let is_declared = |name: &str| self.budget.spend(1) && table.declares(name);
        let is_matched = |name: &str| {
            (table.patterns.iter()).any(|(it, _)| it.is_match_within(name, self.budget))
        };
        let is_evaluated = |name: &&str| is_declared(name) || is_matched(name);
        evaluated.names.extend(names.filter(is_evaluated));
    }

    /// Follows the keywords that apply other schemas to the same value.
    fn collect_in_place<'v>(
        &mut self,
        keyword: &Keyword,
        value: &'v Value,
        evaluated: &mut Evaluated<'v>,
    ) {
        match keyword {
            Keyword::Ref(node) => self.collect_if_valid(*node, value, evaluated),
            Keyword::Whole(whole) => self.collect_if_valid(whole.part, value, evaluated),
            Keyword::DynamicRef { target, candidates } => {
                let node = self.dynamic_target(*target, candidates);
                self.collect_if_valid(node, value, evaluated);
            }
            Keyword::AllOf(nodes)
            | Keyword::AnyOf(nodes)
            | Keyword::OneOf(nodes)
            | Keyword::OneOfWithOptions { nodes, .. } => {
                for node in nodes {
                    self.collect_if_valid(*node, value, evaluated);
                }
            }
            Keyword::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = self.branch(*condition, [*then, *otherwise], value);
                for node in [Some(*condition), branch].into_iter().flatten() {
                    self.collect_if_valid(node, value, evaluated);
                }
            }
            Keyword::DependentSchemas(nodes) => {
                for (name, node) in nodes {
                    if value.get(name).is_some() {
                        self.collect_if_valid(*node, value, evaluated);
                    }
                }
            }
            _ => {}
        }
    }

    fn collect_if_valid<'v>(
        &mut self,
        node: Node,
        value: &'v Value,
        evaluated: &mut Evaluated<'v>,
    ) {
        if evaluated.all || !self.is_valid(node, value) {
            return;
        }
        let mut keywords = self.compiled.nodes[node].keywords.iter();
        // One of them has evaluated everything that the others have not.
        let evaluates_rest = |keyword: &Keyword| {
            let items = matches!(keyword, Keyword::UnevaluatedItems { .. });
            let members = matches!(keyword, Keyword::UnevaluatedProperties { .. });
            items && value.is_array() || members && value.is_object()
        };
        if keywords.any(evaluates_rest) {
            evaluated.all = true;
            return;
        }
        let entered = self.enter(node);
        self.collect_evaluated(node, value, evaluated);
        self.leave(entered);
    }
}
