//! Which values, or kinds of values, a schema lists.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    super::{kinds::Kinds, prover::View},
    Change, Pair, Part, Scope, Walk,
    path::list,
    place_of,
};

/// How deep unions are searched for kinds.
const MAX_UNION_DEPTH: u32 = 4;

impl<'a> Walk<'a> {
    /// Describes changes of the listed values, or else of the kinds of values.
    pub(super) fn describe_kinds(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        if scope.verdict.is_same() {
            return;
        }
        let [old, new] = [pair.old, pair.new].map(|part| {
            let listed = self.prover.literals(&part.view);
            listed.filter(|it| !it.is_empty())
        });
        let (subject, accepts) = (scope.path.subject(), self.accepts());
        let [only, any] = match (old, new) {
            (Some(old), Some(new)) => return self.describe_values(pair, &old, &new, scope),
            (None, None) => return self.describe_types(pair, scope),
            (None, Some(new)) => [Some(new), None],
            (Some(old), None) => [None, Some(old)],
        };
        let message = match (&only, &any) {
            (Some(only), _) => format!(
                "{subject} now only {accepts}s {}",
                list(only.iter().copied())
            ),
            (_, any) => {
                let values = any.iter().flatten().copied().collect::<Vec<_>>();
                format!(
                    "{subject} is no longer limited to {}",
                    list(values.into_iter())
                )
            }
        };
        let change = Change::of(scope.verdict.forward, scope.verdict.backward);
        let part = match only {
            Some(_) => pair.new,
            None => pair.old,
        };
        let place = values_place(part).unwrap_or(part.place);
        self.add(change.unwrap_or(Change::Other), place, message, scope);
    }

    /// Describes values that were added or removed.
    fn describe_values(
        &mut self,
        pair: Pair<'_, 'a>,
        old: &[&'a Value],
        new: &[&'a Value],
        scope: Scope<'_>,
    ) {
        let (subject, accepts) = (scope.path.subject(), self.accepts());
        let missing = |walk: &mut Self, values: &[&'a Value], others: &[&'a Value]| {
            let others: HashSet<_> = others.iter().map(|it| walk.prover.id(it)).collect();
            let values = values.iter().copied();
            let values = values.filter(|it| !others.contains(&walk.prover.id(it)));
            values.collect::<Vec<_>>()
        };
        let added = missing(self, new, old);
        let removed = missing(self, old, new);
        if let Some(first) = added.first() {
            let message = format!(
                "{subject} now also {accepts}s {}",
                list(added.iter().copied())
            );
            let mut place = pair.new.place;
            place.value = first;
            self.add(Change::Wider, place, message, scope);
        }
        if let Some(first) = removed.first() {
            let message = format!(
                "{subject} no longer {accepts}s {}",
                list(removed.iter().copied())
            );
            let mut place = pair.old.place;
            place.value = first;
            self.add(Change::Narrower, place, message, scope);
        }
    }

    /// Describes kinds of values that were added or removed.
    fn describe_types(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| self.kinds_of(&part.view, 0));
        let Some(change) = Change::of(old.is_within(new), new.is_within(old)) else {
            return;
        };
        let (subject, accepts) = (scope.path.subject(), self.accepts());
        let message = match change {
            _ if new.is_empty() => format!("{subject} no longer {accepts}s any value"),
            _ if old.is_empty() => format!("{subject} now {accepts}s {}", new.describe()),
            Change::Wider if new == Kinds::ALL => format!("{subject} now {accepts}s any value"),
            Change::Narrower if old == Kinds::ALL => {
                format!("{subject} now only {accepts}s {}", new.describe())
            }
            Change::Wider => {
                let added = new.without(old).describe();
                format!("{subject} now also {accepts}s {added}")
            }
            Change::Narrower => {
                let removed = old.without(new).describe();
                format!("{subject} no longer {accepts}s {removed}")
            }
            Change::Other => {
                let (old, new) = (old.describe(), new.describe());
                format!("{subject} changed from {old} to {new}")
            }
        };
        let mut types = pair
            .new
            .view
            .all("type")
            .map(|(node, it)| place_of(node, it));
        let place = types.next().unwrap_or(pair.new.place);
        self.add(change, place, message, scope);
    }

    /// Describes whether `null` was added or removed, for schemas with alternatives.
    pub(super) fn describe_null(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| {
            let kinds = self.kinds_of(&part.view, 0);
            kinds.overlaps(Kinds::NULL)
        });
        let (subject, accepts) = (scope.path.subject(), self.accepts());
        match (old, new) {
            (false, true) => {
                let message = format!("{subject} now also {accepts}s null");
                self.add(Change::Wider, pair.new.place, message, scope);
            }
            (true, false) => {
                let message = format!("{subject} no longer {accepts}s null");
                self.add(Change::Narrower, pair.old.place, message, scope);
            }
            _ => {}
        }
    }

    /// Returns the kinds of values of a view, as far as alternatives tell.
    pub(super) fn kinds_of(&mut self, view: &View<'a>, depth: u32) -> Kinds {
        let mut kinds = view.kinds();
        if let Some(values) = self.prover.literals(view) {
            let listed = values.into_iter().map(Kinds::of_value);
            return kinds.and(listed.fold(Kinds::NONE, Kinds::or));
        }
        if depth < MAX_UNION_DEPTH {
            let unions: Vec<_> = view.unions().collect();
            for union in unions {
                let mut any = Kinds::NONE;
                for alternative in union.alternatives {
                    let view = self.prover.decide(view, union, alternative);
                    any = any.or(self.kinds_of(&view, depth + 1));
                }
                kinds = kinds.and(any);
            }
        }
        kinds
    }
}

/// Returns where values are listed.
fn values_place<'a>(part: &Part<'a>) -> Option<super::Place<'a>> {
    let keywords = ["enum", "const", "anyOf", "oneOf"].into_iter();
    let mut places = keywords.filter_map(|keyword| {
        let mut all = part.view.all(keyword);
        all.next().map(|(node, value)| place_of(node, value))
    });
    places.next()
}
