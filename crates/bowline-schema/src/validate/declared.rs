//! The members that the schemas for an object declare.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    check::Check,
    keyword::{Keyword, Node, ValueKeyword, to_u64},
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

    /// Returns the members of an object that are not declared, if the schemas do not say
    /// what else there may be.
    pub(super) fn undeclared<'v>(
        &self,
        members: &'v Map<String, Value>,
    ) -> impl Iterator<Item = &'v str> + use<'a, 'v> {
        let is_limit = !self.is_complete && !self.names.is_empty();
        let known: HashSet<&str> = self.names().filter(|_| is_limit).collect();
        let names = members.keys().map(String::as_str);
        names.filter(move |name| is_limit && !known.contains(name))
    }

    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.is_complete |= other.is_complete;
    }
}

impl<'a> Check<'a> {
    /// Returns whether an object has members that are not declared, although the
    /// schemas do not say what else there may be.
    pub(super) fn has_undeclared(&mut self, node: Node, value: &Value) -> bool {
        let Some(members) = value.as_object() else {
            return false;
        };
        let declared = self.declared(node, value);
        let mut undeclared = declared.undeclared(members);
        undeclared.next().is_some()
    }

    /// Returns what a schema and all others for the same value declare.
    pub(super) fn declared(&mut self, node: Node, value: &Value) -> Declared<'a> {
        let mut declared = Declared::default();
        self.limit_depth();
        let schema = &self.compiled.nodes[node];
        for keyword in &schema.values {
            if let ValueKeyword::DependentRequired(name, others) = keyword {
                declared.names.push(name);
                declared.names.extend(others.iter().map(String::as_str));
            }
        }
        if let Some(table) = &schema.members {
            let required = table.required().map(|known| known.name.as_str());
            declared.names.extend(required);
            declared
                .names
                .extend(table.declared().map(|(name, _)| name));
            declared.is_complete |= table.is_complete;
        }
        for keyword in &schema.keywords {
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
            Keyword::UnevaluatedProperties { .. } => declared.is_complete = true,
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
}

/// Returns each name once, in order.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let mut seen = HashSet::new();
    names.filter(move |name| seen.insert(*name))
}
