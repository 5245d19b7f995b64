//! Views that have a finite number of values.

use std::{collections::HashSet, rc::Rc};

use serde_json::Value;

use super::{
    super::{
        canonical::Id,
        document::{Node, address},
        kinds::Kinds,
    },
    Prover, View,
    evaluate::Truth,
};

static NULL: Value = Value::Null;
static TRUE: Value = Value::Bool(true);
static FALSE: Value = Value::Bool(false);

impl<'a> Prover<'a> {
    /// Returns the values of a view, perhaps with some that are not valid, if their
    /// number is finite.
    pub(super) fn values_of(&mut self, view: &View<'a>) -> Option<Vec<&'a Value>> {
        let kinds = view.kinds();
        let enumerated = view.nodes.iter().filter_map(|node| enumerated(*node));
        let mut values = match enumerated.min_by_key(Vec::len) {
            Some(values) => values,
            None if kinds.is_within(Kinds::NULL.or(Kinds::BOOLEAN)) => vec![&NULL, &FALSE, &TRUE],
            None => return None,
        };
        values.retain(|value| {
            let is_considered = Kinds::of_value(value).is_within(kinds);
            is_considered && !self.rejects(view, value)
        });
        Some(values)
    }

    /// Shows that all values of a view are listed. `None` if the list is not valid.
    pub(super) fn listed_hold(
        &mut self,
        view: &View<'a>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        let listed = match keyword {
            "const" => Rc::new(HashSet::from([self.id(value)])),
            _ => value.is_array().then(|| self.set_of(value))?,
        };
        let values = self.values_of(view);
        Some(values.is_some_and(|all| all.into_iter().all(|it| listed.contains(&self.id(it)))))
    }

    /// Returns the values that a view lists, by itself or as alternatives.
    pub(in super::super) fn literals(&mut self, view: &View<'a>) -> Option<Vec<&'a Value>> {
        if view.nodes.iter().any(|node| enumerated(*node).is_some()) {
            return self.values_of(view);
        }
        let union = view.unions().next()?;
        let mut all = Vec::new();
        for alternative in union.alternatives {
            let view = self.decide(view, union, alternative);
            let is_listed = view.nodes.iter().any(|node| enumerated(*node).is_some());
            all.extend(self.values_of(&view).filter(|_| is_listed)?);
        }
        Some(all)
    }

    /// Returns whether a value is certainly not one of a view.
    pub(super) fn rejects(&mut self, view: &View<'a>, value: &'a Value) -> bool {
        let mut nodes = view.nodes.iter();
        view.is_never || nodes.any(|node| self.accepts(*node, value) == Truth::No)
    }

    /// Returns the values of an array, for finding one among them.
    pub(super) fn set_of(&mut self, array: &'a Value) -> Rc<HashSet<Id>> {
        if let Some(known) = self.sets.get(&address(array)) {
            return Rc::clone(known);
        }
        let items = array.as_array().into_iter().flatten();
        let set: HashSet<Id> = items.map(|item| self.id(item)).collect();
        let set = Rc::new(set);
        self.sets.insert(address(array), Rc::clone(&set));
        set
    }

    /// Returns the strings of an array, for finding one among them.
    pub(in super::super) fn names_of(&mut self, array: &'a Value) -> Rc<HashSet<&'a str>> {
        if let Some(known) = self.names.get(&address(array)) {
            return Rc::clone(known);
        }
        let items = array.as_array().into_iter().flatten();
        let names: HashSet<&str> = items.filter_map(Value::as_str).collect();
        let names = Rc::new(names);
        self.names.insert(address(array), Rc::clone(&names));
        names
    }
}

/// Returns the values that a schema lists, if it does.
fn enumerated(node: Node<'_>) -> Option<Vec<&Value>> {
    let constant = node.get("const").map(|value| vec![value]);
    constant.or_else(|| Some(node.get("enum")?.as_array()?.iter().collect()))
}
