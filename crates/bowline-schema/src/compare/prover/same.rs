//! Whether two schemas say the same, apart from text.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    super::{
        canonical::Reading,
        document::{Node, Target},
        keyword::Role,
    },
    Prover, View,
};

impl<'a> Prover<'a> {
    /// Returns whether a schema of a view is the same as another schema.
    pub(super) fn has_same(&mut self, view: &View<'a>, schema: Node<'a>) -> bool {
        let mut nodes = view.nodes.iter();
        nodes.any(|node| self.is_same(*node, schema))
    }

    /// Returns whether two schemas have the same restrictions, keyword by keyword.
    /// References are followed.
    ///
    /// All pairs that are reached must be the same, so a pair that is reached again
    /// needs no second look, and a list of pairs suffices instead of recursion.
    pub(in super::super) fn is_same(&mut self, one: Node<'a>, other: Node<'a>) -> bool {
        let key = (one.key(), other.key());
        if let Some(known) = self.same.get(&key) {
            return *known;
        }
        let mut seen = HashSet::from([key]);
        let mut pending = vec![(one, other)];
        while let Some((one, other)) = pending.pop() {
            let Some(parts) = self.differing_parts(one, other) else {
                self.same.insert(key, false);
                return false;
            };
            for (one, other) in parts {
                let key = (one.key(), other.key());
                if self.same.get(&key) != Some(&true) && seen.insert(key) {
                    pending.push((one, other));
                }
            }
        }
        self.same.extend(seen.into_iter().map(|key| (key, true)));
        true
    }

    /// Compares two schemas, and returns the schemas within them that must be the
    /// same, or `None` if these are not.
    fn differing_parts(
        &mut self,
        one: Node<'a>,
        other: Node<'a>,
    ) -> Option<Vec<(Node<'a>, Node<'a>)>> {
        let empty = Map::new();
        let (Some(left), Some(right)) = (keywords(one, &empty), keywords(other, &empty)) else {
            let is_equal = self.is_equal(one.value, other.value);
            return is_equal.then(Vec::new);
        };
        let steps = u64::try_from(1 + left.len()).unwrap_or(u64::MAX);
        self.same_steps_left = self.same_steps_left.checked_sub(steps)?;
        let restricts = |key: &str| Role::of(key).restricts();
        let count =
            |members: &Map<String, Value>| members.keys().filter(|it| restricts(it)).count();
        if count(left) != count(right) {
            return None;
        }
        let mut parts = Vec::new();
        let (left, right) = (one.members(), other.members());
        for (keyword, value) in left.into_iter().flatten() {
            if restricts(keyword) {
                let pair = (value, right?.get(keyword)?);
                self.compare_keyword((one, other), keyword, pair, &mut parts)?;
            }
        }
        Some(parts)
    }

    fn compare_keyword(
        &mut self,
        (one, other): (Node<'a>, Node<'a>),
        keyword: &str,
        (left, right): (&'a Value, &'a Value),
        parts: &mut Vec<(Node<'a>, Node<'a>)>,
    ) -> Option<()> {
        let mut add = |prover: &Self, left, right| {
            parts.push((prover.child(one, left), prover.child(other, right)));
        };
        match (Role::of(keyword), left, right) {
            (Role::Reference, ..) => {
                let targets = (
                    self.resolve(one, keyword, left),
                    self.resolve(other, keyword, right),
                );
                match targets {
                    (Target::Schema(left), Target::Schema(right)) => parts.push((left, right)),
                    (Target::Elsewhere(left), Target::Elsewhere(right)) if left == right => {}
                    (Target::Nothing, Target::Nothing) if self.is_equal(left, right) => {}
                    _ => return None,
                }
            }
            (Role::SchemaOrList | Role::SchemaList, Value::Array(left), Value::Array(right)) => {
                let is_as_long = left.len() == right.len();
                let pairs = is_as_long.then(|| left.iter().zip(right))?;
                pairs.for_each(|(left, right)| add(self, left, right));
            }
            (Role::SchemaMap | Role::Dependencies, Value::Object(left), Value::Object(right))
                if left.len() == right.len() =>
            {
                for (name, left) in left {
                    add(self, left, right.get(name)?);
                }
            }
            (Role::Schema | Role::SchemaOrList, ..) => add(self, left, right),
            (Role::Set, ..) => {
                let left = self.canonical.id(left, Reading::Set);
                (left == self.canonical.id(right, Reading::Set)).then_some(())?;
            }
            _ => self.is_equal(left, right).then_some(())?,
        }
        Some(())
    }
}

/// Returns the keywords of a schema. `true` has none.
fn keywords<'m>(node: Node<'m>, empty: &'m Map<String, Value>) -> Option<&'m Map<String, Value>> {
    match node.value {
        Value::Bool(true) => Some(empty),
        value => value.as_object(),
    }
}
