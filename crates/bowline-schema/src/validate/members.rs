//! Whether the members of an object are valid.

use serde_json::{Map, Value};

use super::{
    check::Check,
    keyword::to_u64,
    member_table::{KnownName, MemberTable},
};

impl Check<'_> {
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
            if let Some(at) = table.find(name, next) {
                let known = &table.names[at];
                next = at + 1;
                // No object has a name twice.
                required_count += usize::from(known.is_required);
                node = known.node;
            }
            let is_valid = node.is_none_or(|node| self.is_valid(node, member))
                && (!table.is_complete
                    || self.is_valid_unnamed(table, name, member, node.is_some()));
            if !is_valid {
                return false;
            }
        }
        required_count == table.required_count
            || table.unless_default_in.is_some()
                && table.required().all(|known| {
                    members.contains_key(&known.name) || self.has_default(table, known)
                })
    }

    /// Checks a member by what is said about those that are not named.
    #[inline]
    fn is_valid_unnamed(
        &mut self,
        table: &MemberTable,
        name: &str,
        member: &Value,
        mut is_described: bool,
    ) -> bool {
        for (pattern, node) in &table.patterns {
            if self.matches(pattern, name) {
                is_described = true;
                if !self.is_valid(*node, member) {
                    return false;
                }
            }
        }
        let additional = table.additional.filter(|_| !is_described);
        additional.is_none_or(|node| self.is_valid(node, member))
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
