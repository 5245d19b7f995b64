//! Checking the members of an object.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    ValidationError,
    check::Check,
    declared::unique,
    display::truncate_message,
    error_kind::ValidationErrorKind as Kind,
    keyword::{Keyword, Node, RequiredKeyword, ValueKeyword, to_u64},
    location::Location,
    violation::{missing_member, unknown_member},
};

impl<'a> Check<'a> {
    pub(super) fn check_object(
        &mut self,
        keyword: &'a Keyword,
        members: &Map<String, Value>,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match keyword {
            Keyword::Required(required) => self.check_required(required, members, location),
            Keyword::DependentSchemas(nodes) | Keyword::Properties(nodes)
                if !self.budget.spend(to_u64(nodes.len())) =>
            {
                false
            }
            Keyword::DependentSchemas(nodes) => self.all(nodes, |check, (name, node)| {
                find(members, name).is_none() || check.check_node(*node, value, location)
            }),
            Keyword::Properties(nodes) => self.all(nodes, |check, (name, node)| {
                find(members, name).is_none_or(|member| {
                    check.check_node(*node, member, &Location::Member(location, name))
                })
            }),
            Keyword::PatternProperties(nodes) => self.all(nodes, |check, (pattern, node)| {
                check.all(members, |check, (name, member)| {
                    !check.matches(pattern, name)
                        || check.check_node(*node, member, &Location::Member(location, name))
                })
            }),
            Keyword::Additional {
                named,
                patterns,
                node,
            } => {
                let mut others = members.iter().filter(|(name, _)| {
                    self.budget.spend(1)
                        && !is_among(named, name)
                        && !patterns.iter().any(|it| self.matches(it, name))
                });
                if !self.collects_all && self.is_never(*node) {
                    return others.next().is_none();
                }
                let others = others.collect();
                let known = |_: &mut Self| named.iter().map(String::as_str).collect();
                self.check_additional("Additional", others, *node, known, location)
            }
            Keyword::UnevaluatedProperties { parent, node } => {
                self.check_unevaluated(*parent, *node, value, location)
            }
            Keyword::PropertyNames(node) => self.all(members.keys(), |check, name| {
                check.check_name(*node, name, location)
            }),
            _ => true,
        }
    }

    fn check_unevaluated(
        &mut self,
        parent: Node,
        node: Node,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let evaluated = self.evaluated(parent, value);
        let members = value.as_object().into_iter().flatten();
        let others = members.filter(|(name, _)| !evaluated.contains_member(name));
        let others = others.collect();
        let known = |check: &mut Self| {
            let declared = check.declared(parent, value);
            unique(declared.names()).collect()
        };
        self.check_additional("Unevaluated", others, node, known, location)
    }

    fn check_required(
        &mut self,
        required: &RequiredKeyword,
        members: &Map<String, Value>,
        location: &Location<'_>,
    ) -> bool {
        let compiled = self.compiled;
        let is_met = find(members, &required.name).is_some() || self.has_default(required);
        self.require(is_met, location, || {
            let expected = match required.member {
                Some(member) => compiled.expectation(member),
                None => "any value".to_owned(),
            };
            missing_member(&required.name, expected)
        })
    }

    /// Checks the members that are not described one by one. `known` returns the names
    /// of those that are.
    fn check_additional(
        &mut self,
        kind: &str,
        others: Vec<(&String, &Value)>,
        node: Node,
        known: impl FnOnce(&mut Self) -> Vec<&'a str>,
        location: &Location<'_>,
    ) -> bool {
        if !self.is_never(node) {
            return self.all(others, |check, (name, member)| {
                check.check_node(node, member, &Location::Member(location, name))
            });
        }
        if others.is_empty() || !self.collects_all {
            return others.is_empty();
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
        self.all(unexpected, |check, (name, _)| {
            check.require(false, location, || {
                let shown = truncate_message(format!("'{name}'"));
                let why = format!("{kind} properties are not allowed ({shown} was unexpected)");
                unknown_member(name, why, known.iter().copied())
            })
        });
        false
    }

    /// Checks the name of a member.
    fn check_name(&mut self, node: Node, name: &str, location: &Location<'_>) -> bool {
        let before = self.errors.len();
        let is_valid = self.check_node(node, &Value::from(name), location);
        for error in &mut self.errors[before..] {
            let name = truncate_message(name.to_owned());
            error.kind = Kind::InvalidMemberName { name };
            error.message.push_str(" (the name of a member)");
        }
        is_valid
    }

    /// Returns whether no value is valid for a schema.
    pub(super) fn is_never(&self, node: Node) -> bool {
        let keywords = &self.compiled.nodes[node][..];
        matches!(keywords, [Keyword::Value(ValueKeyword::Never)])
    }

    fn has_error_within(&self, location: &Location<'_>) -> bool {
        let outer = truncate_message(location.pointer());
        let is_within = |error: &ValidationError| {
            let inside = error.pointer.strip_prefix(&outer);
            inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('/'))
        };
        self.errors.iter().any(is_within)
    }
}

/// Up to this many names are compared one by one, which is faster than hashing or
/// sorting.
const FEW_NAMES: usize = 8;

/// Returns a member of an object.
fn find<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    if members.len() > FEW_NAMES {
        return members.get(name);
    }
    let found = members.iter().find(|(it, _)| is_same(it, name));
    found.map(|(_, member)| member)
}

/// Returns whether a name is one of these, which are sorted.
fn is_among(sorted: &[String], name: &String) -> bool {
    match sorted.len() > FEW_NAMES {
        true => sorted.binary_search(name).is_ok(),
        false => sorted.iter().any(|it| is_same(it, name)),
    }
}

/// Names of the same length are common; few of them begin alike.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().next() == other.bytes().next() && one == other
}
