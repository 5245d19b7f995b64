//! Bounds of numbers, of lengths and of counts.

use std::fmt;

use serde_json::{Number, Value};

use super::{
    super::{
        kinds::Kinds,
        number::{divides, floor},
    },
    Prover, View,
};
use crate::validate::equal::{as_i128, compare};

/// A lower or upper bound of numbers.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Bound<'a> {
    pub(in super::super) value: &'a Number,
    pub(in super::super) is_exclusive: bool,
    /// The value as the schema has it.
    pub(in super::super) place: &'a Value,
}

/// Which end of a range a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum End {
    Lower,
    Upper,
}

impl End {
    pub(in super::super) fn keywords(self) -> [&'static str; 2] {
        match self {
            Self::Lower => ["minimum", "exclusiveMinimum"],
            Self::Upper => ["maximum", "exclusiveMaximum"],
        }
    }
}

impl Bound<'_> {
    /// Returns whether numbers within this bound are within another.
    pub(in super::super) fn implies(self, other: Self, end: End, is_whole: bool) -> bool {
        if is_whole
            && let Some(own) = self.last_whole(end)
            && let Some(other) = other.last_whole(end)
        {
            return match end {
                End::Lower => own >= other,
                End::Upper => own <= other,
            };
        }
        let order = compare(self.value, other.value);
        let order = match end {
            End::Lower => order,
            End::Upper => order.reverse(),
        };
        order.is_gt() || order.is_eq() && (self.is_exclusive || !other.is_exclusive)
    }

    /// Returns the integer within the bound that is next to it.
    fn last_whole(self, end: End) -> Option<i128> {
        let floor = floor(self.value)?;
        let is_whole = as_i128(self.value).is_some();
        Some(match (end, is_whole && !self.is_exclusive) {
            (_, true) => floor,
            (End::Lower, false) => floor + 1,
            (End::Upper, false) if is_whole => floor - 1,
            (End::Upper, false) => floor,
        })
    }
}

impl fmt::Display for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exclusive = if self.is_exclusive {
            " (exclusive)"
        } else {
            ""
        };
        write!(f, "{}{exclusive}", self.value)
    }
}

impl<'a> View<'a> {
    /// Returns the strongest bound.
    pub(in super::super) fn bound(&self, end: End) -> Option<Bound<'a>> {
        let keywords = end.keywords().into_iter().zip([false, true]);
        let bounds = keywords.flat_map(|(keyword, is_exclusive)| {
            let values = self.all(keyword);
            let values = values.filter_map(|(_, it)| Some((it, it.as_number()?)));
            values
                .map(|(place, value)| Bound {
                    value,
                    is_exclusive,
                    place,
                })
                .collect::<Vec<_>>()
        });
        bounds.reduce(|one, other| match other.implies(one, end, false) {
            true => other,
            false => one,
        })
    }

    /// Returns whether all numbers are integers.
    pub(in super::super) fn is_whole(&self) -> bool {
        !self.kinds().overlaps(Kinds::FRACTION)
    }

    /// Returns the greatest of the values of a keyword that is a count.
    pub(in super::super) fn greatest(&self, keyword: &str) -> Option<u64> {
        self.all(keyword).filter_map(|(_, it)| limit(it)).max()
    }

    /// Returns the least of the values of a keyword that is a count.
    pub(in super::super) fn least(&self, keyword: &str) -> Option<u64> {
        self.all(keyword).filter_map(|(_, it)| limit(it)).min()
    }
}

impl<'a> Prover<'a> {
    /// Shows that a keyword holds for all numbers of a view. `None` if the keyword is
    /// not valid.
    pub(super) fn number_holds(
        &mut self,
        view: &View<'a>,
        keyword: &str,
        place: &'a Value,
    ) -> Option<bool> {
        let value = place.as_number()?;
        let (end, is_exclusive) = match keyword {
            "minimum" => (End::Lower, false),
            "maximum" => (End::Upper, false),
            "exclusiveMinimum" => (End::Lower, true),
            "exclusiveMaximum" => (End::Upper, true),
            _ => return Some(has_multiple(view, value)),
        };
        let needed = Bound {
            value,
            is_exclusive,
            place,
        };
        let bound = view.bound(end);
        Some(bound.is_some_and(|bound| bound.implies(needed, end, view.is_whole())))
    }
}

/// Returns whether all numbers are multiples of a divisor.
fn has_multiple(view: &View<'_>, divisor: &Number) -> bool {
    let one = Number::from(1);
    let mut factors = view.all("multipleOf").filter_map(|(_, it)| it.as_number());
    view.is_whole() && divides(divisor, &one) || factors.any(|factor| divides(divisor, factor))
}

/// Parses a count as validation has it: `2.0` is one too.
pub(in super::super) fn limit(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    let whole = |float: f64| (float >= 0.0 && float.fract() == 0.0).then_some(float as u64);
    number.as_u64().or_else(|| number.as_f64().and_then(whole))
}
