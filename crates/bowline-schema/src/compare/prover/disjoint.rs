//! Whether two views have no value in common.

use super::{
    super::kinds::Kinds,
    MAX_DEPTH, Prover, View,
    members::required_names,
    numbers::{Bound, End},
};

impl<'a> Prover<'a> {
    /// Shows that no value is one of both views.
    pub(super) fn is_disjoint(&mut self, one: &View<'a>, other: &View<'a>) -> bool {
        if self.depth >= MAX_DEPTH || !self.spend(1 + one.nodes.len() + other.nodes.len()) {
            return false;
        }
        // Until there is a result there is none, so recursive schemas end here.
        let key = (one.key(), other.key());
        if let Some(known) = self.disjoint.get(&key) {
            return *known;
        }
        self.disjoint.insert(key.clone(), false);
        self.depth += 1;
        let kinds = one.kinds().and(other.kinds());
        let is_shown = kinds.is_empty()
            || self.has_no_value_of(one, other)
            || self.has_no_value_of(other, one)
            || kinds.is_within(Kinds::NUMBER) && has_separate_range(one, other)
            || kinds == Kinds::OBJECT && self.has_separate_member(one, other)
            || self.is_disjoint_by_cases(one, other)
            || self.is_disjoint_by_cases(other, one);
        self.depth -= 1;
        self.disjoint.insert(key, is_shown);
        is_shown
    }

    /// Shows it if one view has a finite number of values.
    fn has_no_value_of(&mut self, one: &View<'a>, other: &View<'a>) -> bool {
        let values = self.values_of(one);
        values.is_some_and(|values| values.into_iter().all(|it| self.rejects(other, it)))
    }

    /// Shows it by a member that objects of one of the views must have, with a value
    /// that it cannot have in the other.
    fn has_separate_member(&mut self, one: &View<'a>, other: &View<'a>) -> bool {
        let required: Vec<&str> = required_names(one).chain(required_names(other)).collect();
        required.into_iter().any(|name| {
            let one = self.member(one, name).nodes;
            let other = self.member(other, name).nodes;
            let (one, other) = (self.view(&one), self.view(&other));
            self.is_disjoint(&one, &other)
        })
    }

    /// Shows it for each alternative of a union on its own.
    fn is_disjoint_by_cases(&mut self, one: &View<'a>, other: &View<'a>) -> bool {
        let Some(union) = one.unions().next() else {
            return false;
        };
        union.alternatives.iter().all(|alternative| {
            let one = self.decide(one, union, alternative);
            self.is_disjoint(&one, other)
        })
    }
}

/// Returns whether the numbers of one view are all below those of the other.
fn has_separate_range(one: &View<'_>, other: &View<'_>) -> bool {
    let is_below = |one: &View<'_>, other: &View<'_>| {
        let (upper, lower) = (one.bound(End::Upper), other.bound(End::Lower));
        upper.zip(lower).is_some_and(|(upper, lower)| {
            // Every number up to the one bound must violate the other.
            let reached = Bound {
                is_exclusive: !lower.is_exclusive,
                ..lower
            };
            upper.implies(reached, End::Upper, false)
        })
    };
    is_below(one, other) || is_below(other, one)
}
