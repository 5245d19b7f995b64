//! Keywords that are either implied by the other version or not.

use super::{
    super::{
        findings::Place,
        prover::{Mode, View, other_members},
    },
    Change, Pair, Scope, Walk,
    limits::first,
    path::json,
};

/// Keywords of which is only said that they changed.
const OTHERS: [&str; 14] = [
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "propertyNames",
    "unevaluatedItems",
];

impl<'a> Walk<'a> {
    /// Describes changes of keywords that have no descriptions of their own.
    pub(super) fn describe_keywords(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        self.describe_text_keyword(pair, "pattern", scope);
        self.describe_text_keyword(pair, "format", scope);
        self.describe_unique_items(pair, scope);
        for keyword in OTHERS {
            self.describe_other(pair, &[keyword], scope);
        }
        // Those that were not taken apart.
        for keyword in ["anyOf", "oneOf"] {
            self.describe_other(pair, &[keyword], scope);
        }
        if !has_simple_members(pair) {
            self.describe_other(pair, &["unevaluatedProperties"], scope);
        }
    }

    /// Returns how some keywords changed, if they did.
    pub(super) fn change(&mut self, pair: Pair<'_, 'a>, keywords: &[&str]) -> Option<Change> {
        let (old, new) = (&pair.old.view, &pair.new.view);
        let forward = keywords.iter().all(|it| self.is_implied(old, new, it));
        let backward = keywords.iter().all(|it| self.is_implied(new, old, it));
        Change::of(forward, backward)
    }

    /// Returns whether a keyword of one view holds for all values of another.
    fn is_implied(&mut self, view: &View<'a>, other: &View<'a>, keyword: &str) -> bool {
        let all: Vec<_> = other.all(keyword).collect();
        all.into_iter().all(|(node, value)| {
            // What a reference leads to is described where it is.
            other.is_decided_union(value)
                || self.prover.is_followed(node, keyword, value)
                || self.prover.holds(view, node, keyword, value, Mode::Strict)
        })
    }

    fn describe_text_keyword(&mut self, pair: Pair<'_, 'a>, keyword: &str, scope: Scope<'_>) {
        let Some(change) = self.change(pair, &[keyword]) else {
            return;
        };
        let [old, new] = [pair.old, pair.new].map(|part| first(part, keyword));
        let subject = scope.path.subject();
        let message = match (old, new) {
            (Some(old), Some(new)) => {
                let (old, new) = (json(old.value), json(new.value));
                format!("the {keyword} of {subject} changed from {old} to {new}")
            }
            (_, Some(new)) => format!("{subject} now has the {keyword} {}", json(new.value)),
            (Some(old), _) => format!("{subject} no longer has the {keyword} {}", json(old.value)),
            _ => return,
        };
        self.add_unproven(change, new.or(old), message, pair, scope);
    }

    fn describe_unique_items(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let Some(change) = self.change(pair, &["uniqueItems"]) else {
            return;
        };
        let subject = scope.path.subject();
        let message = match change {
            Change::Wider => format!("the items of {subject} no longer need to be unique"),
            _ => format!("the items of {subject} must now be unique"),
        };
        let place = first(pair.new, "uniqueItems").or_else(|| first(pair.old, "uniqueItems"));
        self.add(change, place.unwrap_or(pair.new.place), message, scope);
    }

    /// Describes that a keyword changed, of which others may be a part.
    pub(super) fn describe_other(
        &mut self,
        pair: Pair<'_, 'a>,
        keywords: &[&str],
        scope: Scope<'_>,
    ) {
        let (Some(change), Some(keyword)) = (self.change(pair, keywords), keywords.first()) else {
            return;
        };
        let [old, new] = [pair.old, pair.new].map(|part| first(part, keyword));
        let subject = scope.path.subject();
        let how = match (old, new) {
            (None, _) => "was added",
            (_, None) => "was removed",
            _ => "changed",
        };
        let message = format!("`{keyword}` of {subject} {how}");
        self.add_unproven(change, new.or(old), message, pair, scope);
    }

    /// Adds a difference that may be compatible even if that was not shown.
    fn add_unproven(
        &mut self,
        change: Change,
        place: Option<Place<'a>>,
        message: String,
        pair: Pair<'_, 'a>,
        scope: Scope<'_>,
    ) {
        let message = match self.is_compatible(change, scope) {
            true => message,
            false => format!("{message}, which cannot be shown to be compatible"),
        };
        self.add(change, place.unwrap_or(pair.new.place), message, scope);
    }
}

/// Returns whether what is said about unnamed members is described with the members.
fn has_simple_members(pair: Pair<'_, '_>) -> bool {
    let keyword = "unevaluatedProperties";
    let parts = [pair.old, pair.new].into_iter();
    let mut nodes = parts.flat_map(|part| part.view.nodes.iter());
    nodes.all(|node| {
        let others = other_members(*node);
        !node.has(keyword) || others.is_some_and(|(it, _)| it == keyword)
    })
}
