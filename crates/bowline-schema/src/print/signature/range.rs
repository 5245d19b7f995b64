//! Ranges of numbers.

use crate::shape::{Bound, NumberType};

/// Returns `1..9`, or `integer`. Bounds that only reflect an integer's storage size
/// are left out.
pub(super) fn integer_expression(range: &NumberType) -> String {
    let limit = |bound: Option<&Bound>, inward: f64| {
        let bound = bound?;
        let value = bound.value.as_f64()?;
        let value = match (bound.is_exclusive, inward > 0.0) {
            (false, _) => value,
            (true, true) => value.floor() + inward,
            (true, false) => value.ceil() + inward,
        };
        (value.abs() < f64::from(i32::MAX)).then(|| value.to_string())
    };
    let min = limit(range.minimum.as_ref(), 1.0);
    let max = limit(range.maximum.as_ref(), -1.0);
    match (min, max) {
        (None, None) => "integer".to_owned(),
        (min, max) => bounds_expression(min, max),
    }
}

/// Returns `number 0..1`, with `<` beside an exclusive bound.
pub(super) fn number_expression(range: &NumberType) -> String {
    let min = range.minimum.as_ref().map(|bound| {
        let mark = if bound.is_exclusive { "<" } else { "" };
        format!("{}{mark}", bound.value)
    });
    let max = range.maximum.as_ref().map(|bound| {
        let mark = if bound.is_exclusive { "<" } else { "" };
        format!("{mark}{}", bound.value)
    });
    match (min, max) {
        (None, None) => "number".to_owned(),
        (min, max) => format!("number {}", bounds_expression(min, max)),
    }
}

fn bounds_expression(min: Option<String>, max: Option<String>) -> String {
    let (min, max) = (min.unwrap_or_default(), max.unwrap_or_default());
    format!("{min}..{max}")
}
