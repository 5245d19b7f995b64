//! Keywords about arrays.

use serde_json::Value;

use super::{super::document::Node, Mode, Prover, View, is_trivial, numbers::limit};

/// Keywords that apply schemas to the same value, and so evaluate items or members.
pub(super) const IN_PLACE: [&str; 8] = [
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "if",
    "oneOf",
];

/// Returns the schemas of the first items.
pub(in super::super) fn first_items(node: Node<'_>) -> &[Value] {
    let keyword = match has_legacy_items(node) {
        true => "items",
        false => "prefixItems",
    };
    let first = node.get(keyword);
    first.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the schema of the other items.
pub(in super::super) fn other_items(node: Node<'_>) -> Option<&Value> {
    let has_in_place = || IN_PLACE.iter().any(|keyword| node.has(keyword));
    match node.get("items") {
        Some(Value::Array(_)) => node.get("additionalItems"),
        Some(schema) => Some(schema),
        // Without other keywords that evaluate items, this is what `items` is.
        None if node.has("contains") || has_in_place() => None,
        None => node.get("unevaluatedItems"),
    }
}

impl<'a> View<'a> {
    /// Returns how many items have schemas of their own.
    pub(in super::super) fn first_item_count(&self) -> usize {
        let counts = self.nodes.iter().map(|node| first_items(*node).len());
        counts.max().unwrap_or(0)
    }

    /// Returns the maximum number of items.
    fn max_items(&self) -> u64 {
        let forbids = |node: &&Node<'a>| matches!(other_items(**node), Some(Value::Bool(false)));
        let closed = self.nodes.iter().filter(forbids);
        let closed = closed.filter_map(|node| u64::try_from(first_items(*node).len()).ok());
        let stated = self.least("maxItems").into_iter();
        stated.chain(closed).min().unwrap_or(u64::MAX)
    }

    fn has_item(&self, index: usize) -> bool {
        u64::try_from(index).is_ok_and(|index| index < self.max_items())
    }
}

impl<'a> Prover<'a> {
    /// Returns the schemas of an item.
    pub(in super::super) fn item(&self, view: &View<'a>, index: usize) -> Vec<Node<'a>> {
        let nodes = view.nodes.iter().filter_map(|node| {
            let schema = first_items(*node).get(index);
            let schema = schema.or_else(|| other_items(*node))?;
            Some(self.child(*node, schema))
        });
        nodes.collect()
    }

    /// Shows that a keyword holds for all arrays of a view. `None` if the keyword is
    /// not valid or not understood.
    pub(super) fn array_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
        mode: Mode,
    ) -> Option<bool> {
        Some(match keyword {
            "minItems" => view.greatest(keyword).unwrap_or(0) >= limit(value)?,
            "maxItems" => view.max_items() <= limit(value)?,
            "uniqueItems" => {
                let is_unique = |(_, it): (_, &Value)| it.as_bool() == Some(true);
                !value.as_bool()? || view.max_items() <= 1 || view.all(keyword).any(is_unique)
            }
            "contains" => self.contains_holds(view, schema, value)?,
            "unevaluatedItems" if is_trivial(value) || has_other_items(schema) => true,
            "unevaluatedItems" => {
                // It depends on the keywords beside it, unless there are none.
                let rest = other_items(schema)?;
                self.other_items_hold(view, schema, rest, mode)
            }
            "items" if !value.is_array() => self.other_items_hold(view, schema, value, mode),
            "additionalItems" if has_legacy_items(schema) => {
                self.other_items_hold(view, schema, value, mode)
            }
            "additionalItems" => true,
            // The legacy form of `items` replaces this.
            "prefixItems" if has_legacy_items(schema) => true,
            _ => {
                let first = value.as_array().filter(|first| !first.is_empty())?;
                self.first_items_hold(view, schema, first, mode)
            }
        })
    }

    fn first_items_hold(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        first: &'a [Value],
        mode: Mode,
    ) -> bool {
        first.iter().enumerate().all(|(index, part)| {
            let part = self.child(schema, part);
            let own = self.item(view, index);
            !view.has_item(index) || self.is_part_included(&own, part, mode)
        })
    }

    fn other_items_hold(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        rest: &'a Value,
        mode: Mode,
    ) -> bool {
        let rest = self.child(schema, rest);
        self.items_hold(view, rest, first_items(schema).len(), mode)
    }

    /// Shows that all items from an index on are valid for a schema.
    fn items_hold(&mut self, view: &View<'a>, part: Node<'a>, from: usize, mode: Mode) -> bool {
        // The last of these stands for all further items.
        let last = view.first_item_count().max(from);
        (from..=last).all(|index| {
            let own = self.item(view, index);
            !view.has_item(index) || self.is_part_included(&own, part, mode)
        })
    }

    /// Both counts must hold: that enough items match, and that not too many do.
    fn contains_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        value: &'a Value,
    ) -> Option<bool> {
        let min = min_contains(schema)?;
        let max = schema.get("maxContains").map_or(Some(u64::MAX), limit)?;
        let part = self.child(schema, value);
        let others: Vec<_> = view.all("contains").collect();
        let mut has_enough = min == 0
            || view.greatest("minItems").unwrap_or(0) >= min
                && self.items_hold(view, part, 0, Mode::Strict);
        let mut has_few = max == u64::MAX || view.max_items() <= max;
        for (node, other) in others {
            let other = self.child(node, other);
            let other_max = node.get("maxContains").and_then(limit);
            has_enough = has_enough
                || min_contains(node).is_some_and(|it| it >= min)
                    && self.is_part_included(&[other], part, Mode::Strict);
            has_few = has_few
                || other_max.is_some_and(|it| it <= max)
                    && self.is_part_included(&[part], other, Mode::Strict);
        }
        Some(has_enough && has_few)
    }
}

/// Returns whether `items` is an array, as in older drafts.
fn has_legacy_items(node: Node<'_>) -> bool {
    node.get("items").is_some_and(Value::is_array)
}

/// Returns whether a keyword has a schema for all items after the first ones.
fn has_other_items(node: Node<'_>) -> bool {
    match has_legacy_items(node) {
        true => node.has("additionalItems"),
        false => node.has("items"),
    }
}

fn min_contains(node: Node<'_>) -> Option<u64> {
    node.get("minContains").map_or(Some(1), limit)
}
