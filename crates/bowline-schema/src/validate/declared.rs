//! The members that the schemas for an object declare.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    budget::MAX_DEPTH,
    check::Check,
    display::quoted,
    keyword::{Keyword, Node, RequiredKeyword, ValueKeyword, to_u64},
    location::Location,
    violation::unknown_member,
};

/// The members that the schemas for an object declare.
#[derive(Default)]
pub(super) struct Declared<'a> {
    names: Vec<&'a str>,
    /// Whether the schemas say something about other members.
    is_complete: bool,
}

impl<'a> Declared<'a> {
    /// Returns the names, some of them perhaps repeatedly.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }

    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.is_complete |= other.is_complete;
    }
}

impl<'a> Check<'a> {
    /// Checks that all members are declared, if the schemas do not say what else there
    /// may be.
    pub(super) fn check_undeclared(
        &mut self,
        node: Node,
        members: &Map<String, Value>,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let declared = self.declared(node, value);
        if declared.is_complete || declared.names.is_empty() {
            return true;
        }
        let known: HashSet<&str> = declared.names().collect();
        let others = members.keys().filter(|name| !known.contains(name.as_str()));
        self.all(others, |check, name| {
            check.require(false, location, || {
                let why = format!("{} is not a known property", quoted(name));
                unknown_member(name, why, unique(declared.names()))
            })
        })
    }

    /// Returns what a schema and all others for the same value declare.
    pub(super) fn declared(&mut self, node: Node, value: &Value) -> Declared<'a> {
        let mut declared = Declared::default();
        if self.depth >= MAX_DEPTH {
            self.budget.exhaust();
        }
        for keyword in &self.compiled.nodes[node] {
            if !self.budget.spend(1) {
                return declared;
            }
            self.collect_declared(keyword, value, &mut declared);
        }
        declared
    }

    fn collect_declared(
        &mut self,
        keyword: &'a Keyword,
        value: &Value,
        declared: &mut Declared<'a>,
    ) {
        match keyword {
            Keyword::Properties(nodes) => {
                declared.names.extend(nodes.iter().map(|(name, _)| &**name));
            }
            Keyword::Required(required) => declared.names.push(&required.name),
            Keyword::Value(ValueKeyword::DependentRequired(name, others)) => {
                declared.names.push(name);
                declared.names.extend(others.iter().map(String::as_str));
            }
            Keyword::PatternProperties(_)
            | Keyword::Additional { .. }
            | Keyword::UnevaluatedProperties { .. } => declared.is_complete = true,
            Keyword::Whole(whole) => declared.add(self.declared_in_place(whole.part, value)),
            Keyword::Ref(node) => declared.add(self.declared_in_place(*node, value)),
            Keyword::DynamicRef { target, candidates } => {
                let node = self.dynamic_target(*target, candidates);
                declared.add(self.declared_in_place(node, value));
            }
            Keyword::AllOf(nodes) => {
                for node in nodes {
                    declared.add(self.declared_in_place(*node, value));
                }
            }
            Keyword::AnyOf(nodes)
            | Keyword::OneOf(nodes)
            | Keyword::OneOfWithOptions { nodes, .. } => {
                self.collect_alternatives(nodes, value, declared);
            }
            Keyword::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.declared_in_place(*condition, value);
                declared.names.extend(condition.names);
                for node in [then, otherwise].into_iter().flatten() {
                    declared.add(self.declared_in_place(*node, value));
                }
            }
            Keyword::DependentSchemas(nodes) => {
                for (name, node) in nodes {
                    declared.names.push(name);
                    declared.add(self.declared_in_place(*node, value));
                }
            }
            _ => {}
        }
    }

    /// The names of all alternatives are known. What else there may be is up to those
    /// that the value matches.
    fn collect_alternatives(
        &mut self,
        nodes: &'a [Node],
        value: &Value,
        declared: &mut Declared<'a>,
    ) {
        let matches: Vec<bool> = nodes.iter().map(|it| self.is_valid(*it, value)).collect();
        let none_matches = !matches.contains(&true);
        for (node, is_match) in nodes.iter().zip(matches) {
            let alternative = self.declared_in_place(*node, value);
            // An alternative without a name takes any object.
            let is_complete = alternative.is_complete || alternative.names.is_empty();
            declared.names.extend(alternative.names);
            declared.is_complete |= (is_match || none_matches) && is_complete;
        }
    }

    fn declared_in_place(&mut self, node: Node, value: &Value) -> Declared<'a> {
        let entered = self.enter(node);
        let declared = self.declared(node, value);
        self.leave(entered);
        // They are copied once for each level.
        self.budget.spend(to_u64(declared.names.len()));
        declared
    }

    /// Returns whether a member may be absent because it has a default: where it is
    /// required, or in the other schemas for the same object.
    pub(super) fn has_default(&self, required: &RequiredKeyword) -> bool {
        let Some(node) = required.unless_default_in else {
            return false;
        };
        let has_default = |member: &Node| self.compiled.has_default(*member);
        let is_named = |(name, _): &&(String, Node)| self.budget.spend(1) && *name == required.name;
        let mut schemas = [Some(node), self.whole].into_iter().flatten();
        required.member.as_ref().is_some_and(has_default)
            || schemas.any(|node| {
                let mut members = self.compiled.members(node).filter(is_named);
                members.any(|(_, member)| has_default(member))
            })
    }
}

/// Returns each name once, in order.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let mut seen = HashSet::new();
    names.filter(move |name| seen.insert(*name))
}
