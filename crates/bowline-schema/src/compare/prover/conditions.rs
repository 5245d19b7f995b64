//! Keywords that apply schemas under a condition.
//!
//! Within them no member is assumed to be absent: the assumption is about what a
//! schema says to everyone who reads it.

use serde_json::Value;

use super::{
    super::{document::Node, kinds::Kinds},
    Mode, Prover, View, is_trivial,
    members::named,
};

impl<'a> Prover<'a> {
    /// Shows that an `if` with its branches holds for all values of a view: for those
    /// that meet the condition, and for the others.
    pub(super) fn condition_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        value: &'a Value,
    ) -> bool {
        let condition = self.child(schema, value);
        let (mut met, mut unmet) = (Vec::new(), Vec::new());
        let own: Vec<_> = view.all("if").collect();
        for (node, own) in own {
            let own = self.child(node, own);
            if self.is_same(own, condition) {
                met.push(own);
                met.extend(self.branch(node, "then"));
                unmet.extend(self.branch(node, "else"));
            }
        }
        let (met, unmet) = (self.with(view, &met), self.with(view, &unmet));
        let (then, otherwise) = (self.branch(schema, "then"), self.branch(schema, "else"));
        self.all_included(&met, then) && self.all_included(&unmet, otherwise)
    }

    fn branch(&self, node: Node<'a>, keyword: &str) -> Option<Node<'a>> {
        node.get(keyword).map(|it| self.child(node, it))
    }

    fn all_included(&mut self, view: &View<'a>, branch: Option<Node<'a>>) -> bool {
        branch.is_none_or(|branch| self.is_included(view, branch, Mode::Strict))
    }

    /// Shows that no value of a view is valid for what a `not` excludes.
    pub(super) fn negation_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        value: &'a Value,
    ) -> bool {
        let excluded = self.child(schema, value);
        let excluded_view = self.view(&[excluded]);
        let others: Vec<_> = view.all("not").collect();
        others.into_iter().any(|(node, other)| {
            let other = self.child(node, other);
            self.is_included(&excluded_view, other, Mode::Strict)
        }) || self.is_disjoint(view, &excluded_view)
    }

    /// Shows that the names of members are valid for a schema.
    pub(super) fn names_hold(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        value: &'a Value,
    ) -> bool {
        if is_trivial(value) {
            return true;
        }
        let part = self.child(schema, value);
        let own = view.all("propertyNames");
        let own: Vec<Node<'a>> = own.map(|(node, it)| self.child(node, it)).collect();
        let own = self.view(&own).only(Kinds::STRING);
        self.level += 1;
        let is_shown = self.is_included(&own, part, Mode::Strict);
        self.level -= 1;
        is_shown
    }

    /// Shows that what a member needs holds for all objects of a view that have it.
    pub(super) fn dependency_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        name: &'a str,
        needed: &'a Value,
    ) -> bool {
        if !self.spend(1) {
            return false;
        }
        let member = self.member(view, name).nodes;
        if member
            .iter()
            .any(|it| matches!(it.value, Value::Bool(false)))
        {
            return true;
        }
        let own = ["dependentRequired", "dependentSchemas", "dependencies"];
        let own = own.into_iter().flat_map(|keyword| {
            let nodes = view.nodes.iter();
            nodes.flat_map(move |node| named(*node, keyword).map(move |it| (*node, it)))
        });
        let own = own.filter(|(_, (trigger, _))| *trigger == name);
        let own: Vec<_> = own.map(|(node, (_, it))| (node, it)).collect();
        let Value::Array(names) = needed else {
            let parts = own.iter().filter(|(_, it)| !it.is_array());
            let parts: Vec<_> = parts.map(|(node, it)| self.child(*node, it)).collect();
            let view = self.with(view, &parts);
            let needed = self.child(schema, needed);
            return self.is_included(&view, needed, Mode::Strict);
        };
        names.iter().all(|needed| {
            let Some(needed) = needed.as_str() else {
                return false;
            };
            let mut lists = own.iter().filter(|(_, it)| it.is_array());
            self.is_required(view, needed)
                || lists.any(|(_, list)| self.names_of(list).contains(needed))
        })
    }
}
