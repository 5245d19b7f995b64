//! The order of numbers, however they are written, and their multiples.

use std::cmp::Ordering;

use serde_json::Number;

/// Larger than all integers in JSON.
const INTEGER_LIMIT: f64 = 1e30;

/// How much a quotient of two divisors may deviate from a whole number.
const MAX_DEVIATION: f64 = 1e-15;

/// Compares two numbers.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_with_fraction(left, float(right)),
        (None, Some(right)) => compare_with_fraction(right, float(left)).reverse(),
        (None, None) => compare_floats(float(left), float(right)),
    }
}

/// Returns a number without a fraction as an integer, unless it is very large.
pub(super) fn whole(number: &Number) -> Option<i128> {
    let float = float(number);
    let is_exact = float.fract() == 0.0 && float.abs() < INTEGER_LIMIT;
    integer(number).or_else(|| is_exact.then_some(float as i128))
}

/// Returns whether a number has no fraction.
pub(super) fn is_whole(number: &Number) -> bool {
    whole(number).is_some() || float(number).fract() == 0.0
}

/// Returns the largest integer up to a number, unless it is very large.
pub(super) fn floor(number: &Number) -> Option<i128> {
    let float = float(number).floor();
    whole(number).or_else(|| (float.abs() < INTEGER_LIMIT).then_some(float as i128))
}

/// Returns whether every multiple of a number is a multiple of a divisor.
pub(super) fn divides(divisor: &Number, number: &Number) -> bool {
    if let (Some(divisor), Some(number)) = (whole(divisor), whole(number)) {
        return divisor > 0 && number % divisor == 0;
    }
    let quotient = float(number) / float(divisor);
    let deviation = (quotient - quotient.round()).abs();
    quotient.is_finite() && quotient.round() >= 1.0 && deviation <= quotient * MAX_DEVIATION
}

/// Returns whether a value is a multiple of a divisor. As validation has it, up to
/// the rounding error of binary fractions.
pub(super) fn is_multiple(value: &Number, divisor: &Number) -> bool {
    if let (Some(value), Some(divisor)) = (integer(value), integer(divisor)) {
        return divisor != 0 && value % divisor == 0;
    }
    let quotient = float(value) / float(divisor);
    let deviation = (quotient - quotient.round()).abs();
    quotient.is_finite() && deviation <= quotient.abs().max(1.0) * 1e-12
}

/// Returns the number as a double.
pub(super) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// Returns a number that is written as an integer.
fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

fn compare_with_fraction(integer: i128, float: f64) -> Ordering {
    if float.abs() >= INTEGER_LIMIT {
        return compare_floats(0.0, float);
    }
    let order = integer.cmp(&(float.trunc() as i128));
    order.then_with(|| compare_floats(0.0, float.fract()))
}

fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn numbers(list: &Value) -> Vec<&Number> {
        let list = list.as_array().expect("an array");
        list.iter().filter_map(Value::as_number).collect()
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let ordered = json!([
            -1e300,
            -1.5,
            -1,
            -0.5,
            0,
            0.5,
            1,
            9.5,
            u64::MAX,
            1e25,
            1e300
        ]);
        let ordered = numbers(&ordered);
        for (at, left) in ordered.iter().enumerate() {
            for (other, right) in ordered.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left} and {right}");
            }
        }
        let same = json!([2, 2.0]);
        assert!(compare(numbers(&same)[0], numbers(&same)[1]).is_eq());
    }

    #[test]
    fn multiples_of_multiples_are_multiples() {
        for (divisor, number, expected) in [
            (json!(2), json!(4), true),
            (json!(4), json!(2), false),
            (json!(0.1), json!(0.3), true),
            (json!(0.5), json!(2), true),
            (json!(0.3), json!(0.1), false),
            (json!(0.3), json!(1), false),
            (json!(1e-300), json!(1e300), false),
        ] {
            let both = json!([divisor, number]);
            let both = numbers(&both);
            assert_eq!(divides(both[0], both[1]), expected, "{both:?}");
        }
    }
}
