//! Whether the members of an object are valid.

use serde_json::{Map, Value};

use super::{
    check::Check,
    keyword::{Node, to_u64},
    member_table::{KnownName, MemberTable},
};

impl Check<'_> {
    #[inline]
    pub(super) fn has_valid_members(
        &mut self,
        table: &MemberTable,
        members: &Map<String, Value>,
    ) -> bool {
        if !self.budget.spend(to_u64(members.len())) {
            return false;
        }
        let (mut next, mut required_count) = (0, 0);
        for (name, member) in members {
            let mut node = None;
            if let Some((at, known)) = table.find(name, next) {
                next = at + 1;
                // No object has a name twice.
                required_count += usize::from(known.is_required);
                node = known.node;
            }
            let is_valid = match node {
                Some(node) if table.patterns.is_empty() => self.is_valid(node, member),
                None if table.is_closed => false,
                _ => self.is_valid_otherwise(table, node, name, member),
            };
            if !is_valid {
                return false;
            }
        }
        required_count == table.required_count || self.has_required(table, members)
    }

    /// Checks a member by its own schema, if it has one, and by what is said about those
    /// that are not named.
    #[inline(never)]
    fn is_valid_otherwise(
        &mut self,
        table: &MemberTable,
        node: Option<Node>,
        name: &str,
        member: &Value,
    ) -> bool {
        let mut is_described = node.is_some();
        if node.is_some_and(|node| !self.is_valid(node, member)) {
            return false;
        }
        for (pattern, node) in &table.patterns {
            if pattern.is_match_within(name, self.budget) {
                is_described = true;
                if !self.is_valid(*node, member) {
                    return false;
                }
            }
        }
        let additional = table.additional.filter(|_| !is_described);
        additional.is_none_or(|node| self.is_valid(node, member))
    }

    /// Checks one by one, since members with a default may be absent.
    #[cold]
    fn has_required(&self, table: &MemberTable, members: &Map<String, Value>) -> bool {
        let is_met =
            |known: &KnownName| members.contains_key(&known.name) || self.has_default(table, known);
        table.unless_default_in.is_some() && table.required().all(is_met)
    }

    /// Returns whether a required member may be absent because it has a default: where
    /// it is required, or in the other schemas for the same object.
    pub(super) fn has_default(&self, table: &MemberTable, required: &KnownName) -> bool {
        let Some(node) = table.unless_default_in else {
            return false;
        };
        let has_default = |member| self.compiled.has_default(member);
        let is_named = |(name, _): &(&str, _)| self.budget.spend(1) && *name == required.name;
        let mut schemas = [Some(node), self.whole].into_iter().flatten();
        required.node.is_some_and(has_default)
            || schemas.any(|node| {
                let mut members = self.compiled.members(node).filter(is_named);
                members.any(|(_, member)| has_default(member))
            })
    }
}
