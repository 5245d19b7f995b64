//! Lists of schemas: `allOf`, `anyOf` and `oneOf`.

use std::rc::Rc;

use serde_json::Value;

use super::{
    super::{canonical::Id, document::Node},
    Mode, Prover, Union, View,
    members::required_names,
};

/// The maximum number of required members that are examined as tags.
const MAX_TAGS: usize = 8;

/// A member that tells alternatives apart, and its value.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Tag<'a> {
    pub(in super::super) name: &'a str,
    pub(in super::super) value: &'a Value,
    id: Id,
}

impl PartialEq for Tag<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.id == other.id
    }
}

impl<'a> Prover<'a> {
    /// Shows that a list of schemas holds for all values of a view. `None` if the list
    /// is not valid.
    pub(super) fn list_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
        mode: Mode,
    ) -> Option<bool> {
        let list = value.as_array().filter(|list| !list.is_empty())?;
        let list: Vec<Node<'a>> = list.iter().map(|it| self.child(schema, it)).collect();
        Some(match keyword {
            "allOf" => list.into_iter().all(|it| self.is_included(view, it, mode)),
            "anyOf" => self.any_holds(view, &list, mode),
            _ => self.one_holds(view, &list, mode),
        })
    }

    /// With alternatives on both sides, each of the view's own is looked at on its own
    /// first: that a single one of the others includes them all is rare.
    fn any_holds(&mut self, view: &View<'a>, list: &[Node<'a>], mode: Mode) -> bool {
        if let Some(union) = view.unions().next() {
            return self.holds_by_case(view, union, |prover, view| {
                prover.any_holds(view, list, mode)
            });
        }
        let candidates = self.likely_first(view, list);
        let mut candidates = candidates.into_iter();
        candidates.any(|at| self.is_included(view, list[at], mode))
            || self.holds_by_kind(view, |prover, view| prover.any_holds(view, list, mode))
    }

    fn one_holds(&mut self, view: &View<'a>, list: &[Node<'a>], mode: Mode) -> bool {
        if self.has_same_alternatives(view, list) {
            return true;
        }
        if let Some(union) = view.unions().next() {
            return self.holds_by_case(view, union, |prover, view| {
                prover.one_holds(view, list, mode)
            });
        }
        let candidates = self.likely_first(view, list);
        let mut candidates = candidates.into_iter();
        candidates.any(|at| {
            self.is_included(view, list[at], mode) && self.is_disjoint_from_others(view, list, at)
        }) || self.holds_by_kind(view, |prover, view| prover.one_holds(view, list, mode))
    }

    /// Returns the indices of alternatives, those with the same tag as a view first.
    fn likely_first(&mut self, view: &View<'a>, list: &[Node<'a>]) -> Vec<usize> {
        let own = self.tags_of(view);
        let mut order: Vec<usize> = (0..list.len()).collect();
        if own.is_empty() || list.len() < 2 {
            return order;
        }
        let is_likely = list.iter().map(|alternative| {
            let tags = self.tags_of_node(*alternative);
            tags.iter().any(|tag| own.contains(tag))
        });
        let is_likely: Vec<bool> = is_likely.collect();
        order.sort_by_key(|at| !is_likely[*at]);
        order
    }

    fn tags_of_node(&mut self, node: Node<'a>) -> Rc<Vec<Tag<'a>>> {
        if let Some(known) = self.tags.get(&node.key()) {
            return Rc::clone(known);
        }
        let view = self.view(&[node]);
        let tags = Rc::new(self.tags_of(&view));
        self.tags.insert(node.key(), Rc::clone(&tags));
        tags
    }

    /// Returns the required members that have only one value, and the value.
    pub(in super::super) fn tags_of(&mut self, view: &View<'a>) -> Vec<Tag<'a>> {
        let required: Vec<&str> = required_names(view).collect();
        let mut tags = Vec::new();
        for name in required.into_iter().take(MAX_TAGS) {
            let member = self.member(view, name).nodes;
            let member = self.view(&member);
            if let Some(&[value]) = self.literals(&member).as_deref() {
                tags.push(Tag {
                    name,
                    value,
                    id: self.id(value),
                });
            }
        }
        tags
    }

    /// Shows it for each alternative of a union on its own.
    fn holds_by_case(
        &mut self,
        view: &View<'a>,
        union: Union<'a>,
        mut holds: impl FnMut(&mut Self, &View<'a>) -> bool,
    ) -> bool {
        union.alternatives.iter().all(|alternative| {
            let view = self.decide(view, union, alternative);
            self.spend(view.nodes.len()) && (self.is_never(&view) || holds(self, &view))
        })
    }

    fn is_disjoint_from_others(&mut self, view: &View<'a>, list: &[Node<'a>], at: usize) -> bool {
        let mut others = list.iter().enumerate().filter(|(other, _)| *other != at);
        others.all(|(_, other)| {
            let other = self.view(&[*other]);
            self.is_disjoint(view, &other)
        })
    }

    /// Shows it for each kind of values on its own.
    fn holds_by_kind(
        &mut self,
        view: &View<'a>,
        mut holds: impl FnMut(&mut Self, &View<'a>) -> bool,
    ) -> bool {
        let kinds: Vec<_> = view.kinds().each().collect();
        // Fewer would be what was tried already.
        kinds.len() > 1
            && self.spend(kinds.len())
            && kinds.into_iter().all(|kind| holds(self, &view.only(kind)))
    }

    /// Shows that a `oneOf` of a view has the same alternatives, and that further ones
    /// are disjoint from it. Then it does not matter whether alternatives overlap.
    fn has_same_alternatives(&mut self, view: &View<'a>, list: &[Node<'a>]) -> bool {
        let own: Vec<_> = view.all("oneOf").collect();
        own.into_iter().any(|(node, own)| {
            let own = own.as_array().into_iter().flatten();
            let own: Vec<Node<'a>> = own.map(|it| self.child(node, it)).collect();
            let Some(further) = self.further_alternatives(&own, list) else {
                return false;
            };
            further.into_iter().all(|further| {
                let further = self.view(&[further]);
                own.iter().all(|own| {
                    let own = self.with(view, &[*own]);
                    self.is_disjoint(&own, &further)
                })
            })
        })
    }

    /// Returns the alternatives that have no equivalent, if all own ones have one.
    fn further_alternatives(
        &mut self,
        own: &[Node<'a>],
        list: &[Node<'a>],
    ) -> Option<Vec<Node<'a>>> {
        let mut further: Vec<Node<'a>> = list.to_vec();
        for own in own {
            // Most often it is the first that is left.
            let mut order = 0..further.len();
            let equivalent = order.find(|other| self.is_equivalent(*own, further[*other]))?;
            further.remove(equivalent);
        }
        Some(further)
    }

    fn is_equivalent(&mut self, one: Node<'a>, other: Node<'a>) -> bool {
        let (one_view, other_view) = (self.view(&[one]), self.view(&[other]));
        self.is_included(&one_view, other, Mode::Strict)
            && self.is_included(&other_view, one, Mode::Strict)
    }
}
