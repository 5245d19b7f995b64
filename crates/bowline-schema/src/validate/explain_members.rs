//! Why the members of an object are not valid.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    ValidationError,
    declared::unique,
    display::{quoted, truncate_message},
    error_kind::ValidationErrorKind as Kind,
    explain::Explanation,
    keyword::{Keyword, Node, to_u64},
    location::Location,
    member_table::MemberTable,
    violation::{missing_member, unknown_member},
};

/// Up to this many members are found without allocating.
const FEW_MEMBERS: usize = 16;

impl<'a> Explanation<'a> {
    pub(super) fn explain_object(
        &mut self,
        keyword: &'a Keyword,
        members: &Map<String, Value>,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match keyword {
            Keyword::DependentSchemas(nodes) if !self.check.budget.spend(to_u64(nodes.len())) => {
                false
            }
            Keyword::DependentSchemas(nodes) => self.all(nodes, |this, (name, node)| {
                !members.contains_key(name) || this.explain(*node, value, location)
            }),
            Keyword::UnevaluatedProperties { parent, node } => {
                self.explain_unevaluated(*parent, *node, value, location)
            }
            Keyword::PropertyNames(node) => self.all(members.keys(), |this, name| {
                this.explain_name(*node, name, location)
            }),
            _ => true,
        }
    }

    /// Reports in the order of the schema, whatever that of the object. So the members
    /// are gone through once, and what is to be explained is put in order.
    pub(super) fn explain_members(
        &mut self,
        table: &'a MemberTable,
        members: &Map<String, Value>,
        location: &Location<'_>,
    ) -> bool {
        if !self.check.budget.spend(to_u64(members.len())) {
            return false;
        }
        let (mut few, mut many) = ([None; FEW_MEMBERS], Vec::new());
        let wrong = match few.get_mut(..table.names.len()) {
            Some(few) => few,
            None => {
                many.resize(table.names.len(), None);
                &mut many[..]
            }
        };
        let (mut next, mut required_count) = (0, 0);
        let (mut has_wrong, mut has_unknown) = (false, false);
        for (name, member) in members {
            let Some((at, known)) = table.find(name, next) else {
                has_unknown = true;
                continue;
            };
            next = at + 1;
            required_count += usize::from(known.is_required);
            match known.node {
                Some(node) if self.is_right(node, member) => {}
                Some(_) => (wrong[at], has_wrong) = (Some(member), true),
                None => has_unknown = true,
            }
        }
        let mut is_valid = required_count == table.required_count
            || self.explain_required(table, members, location);
        if has_wrong {
            is_valid &= self.all(table.names.iter().zip(wrong), |this, (known, member)| {
                let Some((node, member)) = known.node.zip(*member) else {
                    return true;
                };
                let location = Location::Member(location, &known.name);
                this.explain_wrong(node, member, &location)
            });
        }
        is_valid &= self.all(&table.patterns, |this, (pattern, node)| {
            this.all(members, |this, (name, member)| {
                !pattern.is_match_within(name, this.check.budget)
                    || this.explain(*node, member, &Location::Member(location, name))
            })
        });
        match table.additional.filter(|_| has_unknown) {
            Some(node) => is_valid & self.explain_additional(table, node, members, location),
            None => is_valid,
        }
    }

    fn explain_required(
        &mut self,
        table: &'a MemberTable,
        members: &Map<String, Value>,
        location: &Location<'_>,
    ) -> bool {
        let compiled = self.check.compiled;
        self.all(table.required(), |this, known| {
            let is_met = members.contains_key(&known.name) || this.check.has_default(table, known);
            this.require(is_met, location, |detail| {
                missing_member(&known.name, detail, || match known.node {
                    Some(member) => compiled.expectation(member),
                    None => "any value".to_owned(),
                })
            })
        })
    }

    fn explain_additional(
        &mut self,
        table: &'a MemberTable,
        node: Node,
        members: &Map<String, Value>,
        location: &Location<'_>,
    ) -> bool {
        let others = members.iter().filter(|(name, _)| {
            let mut patterns = table.patterns.iter();
            !table.declares(name)
                && !patterns.any(|(it, _)| it.is_match_within(name, self.check.budget))
        });
        let others = others.collect();
        let known = |_: &mut Self| {
            let mut names: Vec<_> = table.declared().map(|(name, _)| name).collect();
            names.sort_unstable();
            names
        };
        self.explain_others("Additional", others, node, known, location)
    }

    fn explain_unevaluated(
        &mut self,
        parent: Node,
        node: Node,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let evaluated = self.check.evaluated(parent, value);
        let members = value.as_object().into_iter().flatten();
        let others = members.filter(|(name, _)| !evaluated.contains_member(name));
        let others = others.collect();
        let known = |this: &mut Self| {
            let declared = this.check.declared(parent, value);
            unique(declared.names()).collect()
        };
        self.explain_others("Unevaluated", others, node, known, location)
    }

    /// Explains the members that are not described one by one. `known` returns the names
    /// of those that are.
    fn explain_others(
        &mut self,
        kind: &str,
        others: Vec<(&String, &Value)>,
        node: Node,
        known: impl FnOnce(&mut Self) -> Vec<&'a str>,
        location: &Location<'_>,
    ) -> bool {
        if !self.check.compiled.nodes[node].is_never() {
            return self.all(others, |this, (name, member)| {
                this.explain(node, member, &Location::Member(location, name))
            });
        }
        if others.is_empty() {
            return true;
        }
        let known = known(self);
        // If a schema does not match, its members are not evaluated either. Its own
        // errors say more.
        let explained: HashSet<&str> = match self.has_error_within(location) {
            true => known.iter().copied().collect(),
            false => HashSet::new(),
        };
        let unexpected = others
            .into_iter()
            .filter(|(name, _)| !explained.contains(name.as_str()));
        self.all(unexpected, |this, (name, _)| {
            this.require(false, location, |detail| {
                let shown = truncate_message(["'", name, "'"].concat());
                let what = " properties are not allowed (";
                let why = [kind, what, &shown, " was unexpected)"].concat();
                unknown_member(name, why, &known, detail)
            })
        });
        false
    }

    /// Reports members that are not declared, if the schemas do not say what else there
    /// may be.
    pub(super) fn explain_undeclared(
        &mut self,
        node: Node,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let Some(members) = value.as_object() else {
            return true;
        };
        let declared = self.check.declared(node, value);
        let known: Vec<&str> = unique(declared.names()).collect();
        self.all(declared.undeclared(members), |this, name| {
            this.require(false, location, |detail| {
                let why = quoted(name) + " is not a known property";
                unknown_member(name, why, &known, detail)
            })
        })
    }

    /// Explains the name of a member.
    fn explain_name(&mut self, node: Node, name: &str, location: &Location<'_>) -> bool {
        let before = self.errors.len();
        let is_valid = self.explain(node, &Value::from(name), location);
        for error in &mut self.errors[before..] {
            let name = truncate_message(name.to_owned());
            error.kind = Kind::InvalidMemberName { name };
            error.message.push_str(" (the name of a member)");
        }
        is_valid
    }

    fn has_error_within(&self, location: &Location<'_>) -> bool {
        if self.errors.is_empty() {
            return false;
        }
        let outer = truncate_message(location.pointer());
        let is_within = |error: &ValidationError| {
            let inside = error.pointer.strip_prefix(&outer);
            inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('/'))
        };
        self.errors.iter().any(is_within)
    }
}
