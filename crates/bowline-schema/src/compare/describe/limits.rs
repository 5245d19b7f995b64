//! Bounds of numbers, of lengths and of counts.

use std::{cmp::Ordering, fmt::Display};

use super::{
    super::{
        findings::Place,
        prover::{Bound, End},
    },
    Change, Pair, Part, Scope, Walk,
    path::json,
    place_of,
};
use crate::validate::equal::compare;

/// The keywords that are counts, and what they count.
const COUNTS: [(&str, &str); 6] = [
    ("minLength", "minimum length"),
    ("maxLength", "maximum length"),
    ("minItems", "minimum number of items"),
    ("maxItems", "maximum number of items"),
    ("minProperties", "minimum number of members"),
    ("maxProperties", "maximum number of members"),
];

/// A limit and where it is.
struct Limit<'a, T> {
    value: T,
    place: Place<'a>,
}

impl<'a> Walk<'a> {
    /// Describes changes of all limits.
    pub(super) fn describe_numbers(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        for (end, name) in [(End::Lower, "minimum"), (End::Upper, "maximum")] {
            let [old, new] = [pair.old, pair.new].map(|part| bound(part, end));
            let change = self.change(pair, end.keywords().as_slice());
            let order = old.as_ref().zip(new.as_ref());
            let order = order.map_or(Ordering::Equal, |(old, new)| {
                compare(old.value.value, new.value.value)
            });
            self.describe_limit(name, old, new, order, change, scope);
        }
        for (keyword, name) in COUNTS {
            let [old, new] = [pair.old, pair.new].map(|part| count(part, keyword));
            let change = self.change(pair, &[keyword]);
            let order = old.as_ref().zip(new.as_ref());
            let order = order.map_or(Ordering::Equal, |(old, new)| old.value.cmp(&new.value));
            self.describe_limit(name, old, new, order, change, scope);
        }
        self.describe_multiple(pair, scope);
    }

    fn describe_limit<T: Display>(
        &mut self,
        name: &str,
        old: Option<Limit<'a, T>>,
        new: Option<Limit<'a, T>>,
        order: Ordering,
        change: Option<Change>,
        scope: Scope<'_>,
    ) {
        let Some(change) = change else {
            return;
        };
        let subject = scope.path.subject();
        let (place, message) = match (old, new) {
            (Some(old), Some(new)) => {
                let how = match order {
                    Ordering::Less => "raised",
                    Ordering::Greater => "lowered",
                    Ordering::Equal => "changed",
                };
                let (old, place, new) = (old.value, new.place, new.value);
                (
                    place,
                    format!("the {name} of {subject} was {how} from {old} to {new}"),
                )
            }
            (None, Some(new)) => {
                let message = format!("{subject} now has a {name} of {}", new.value);
                (new.place, message)
            }
            (Some(old), None) => {
                let message = format!("{subject} no longer has a {name}; it was {}", old.value);
                (old.place, message)
            }
            (None, None) => return,
        };
        self.add(change, place, message, scope);
    }

    fn describe_multiple(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let Some(change) = self.change(pair, &["multipleOf"]) else {
            return;
        };
        let [old, new] = [pair.old, pair.new].map(|part| first(part, "multipleOf"));
        let subject = scope.path.subject();
        let message = match (old, new) {
            (Some(old), Some(new)) => {
                let (old, new) = (json(old.value), json(new.value));
                format!("{subject} must now be a multiple of {new}, no longer of {old}")
            }
            (_, Some(new)) => format!("{subject} must now be a multiple of {}", json(new.value)),
            (Some(old), _) => {
                format!(
                    "{subject} no longer needs to be a multiple of {}",
                    json(old.value)
                )
            }
            _ => return,
        };
        let place = new.or(old).unwrap_or(pair.new.place);
        self.add(change, place, message, scope);
    }
}

/// Returns where the first schema of a part has a keyword.
pub(super) fn first<'a>(part: &Part<'a>, keyword: &str) -> Option<Place<'a>> {
    let mut all = part.view.all(keyword);
    all.next().map(|(node, value)| place_of(node, value))
}

fn bound<'a>(part: &Part<'a>, end: End) -> Option<Limit<'a, Bound<'a>>> {
    let bound = part.view.bound(end)?;
    Some(Limit {
        value: bound,
        place: Place {
            value: bound.place,
            ..part.place
        },
    })
}

fn count<'a>(part: &Part<'a>, keyword: &str) -> Option<Limit<'a, u64>> {
    let value = match keyword.starts_with("min") {
        true => part.view.greatest(keyword)?,
        false => part.view.least(keyword)?,
    };
    let place = first(part, keyword)?;
    Some(Limit { value, place })
}
