//! Comparison of numbers and equality of values.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Larger than all integers in JSON.
pub(crate) const INTEGER_LIMIT: f64 = 1e30;

/// Compares two numbers, however they are written.
#[inline]
pub(crate) fn compare(left: &Number, right: &Number) -> Ordering {
    // Nearly all numbers are small.
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => compare_any(left, right),
    }
}

#[inline(never)]
fn compare_any(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (exact_float(left), exact_float(right)) {
        return compare_floats(left, right);
    }
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_with_float(left, float(right)),
        (None, Some(right)) => compare_with_float(right, float(left)).reverse(),
        (None, None) => compare_floats(float(left), float(right)),
    }
}

/// Returns whether two texts are the same. Names and choices are short: those of up to
/// 16 bytes are compared without a call, as their overlapping halves.
#[inline]
pub(crate) fn same_text(left: &[u8], right: &[u8]) -> bool {
    fn same_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
        left.first_chunk::<N>() == right.first_chunk()
            && left.last_chunk::<N>() == right.last_chunk()
    }
    left.len() == right.len()
        && match left.len() {
            0 => true,
            1..=3 => same_ends::<1>(left, right) && left[left.len() / 2] == right[left.len() / 2],
            4..=8 => same_ends::<4>(left, right),
            9..=16 => same_ends::<8>(left, right),
            _ => left == right,
        }
}

/// Returns whether two values are equal: numbers by value, objects in any
/// order.
#[inline]
pub(crate) fn json_equal(left: &Value, right: &Value) -> bool {
    #[cfg(test)]
    COMPARISONS.set(COMPARISONS.get() + 1);
    match (left, right) {
        (Value::String(left), Value::String(right)) => same_text(left.as_bytes(), right.as_bytes()),
        _ => any_equal(left, right),
    }
}

fn any_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| json_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_equal =
                |(key, value)| right.get(key).is_some_and(|other| json_equal(value, other));
            left.len() == right.len() && left.iter().all(has_equal)
        }
        _ => left == right,
    }
}

#[cfg(test)]
thread_local! {
    static COMPARISONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Returns how many values were compared on this thread.
#[cfg(test)]
pub(super) fn comparisons() -> u64 {
    COMPARISONS.get()
}

/// Returns whether a number has no fraction.
#[inline]
pub(crate) fn is_integer(number: &Number) -> bool {
    !number.is_f64() || float(number).fract() == 0.0
}

/// Returns whether a number is a multiple of another, up to the rounding error
/// of binary fractions.
#[inline(never)]
pub(crate) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (integer(number), integer(divisor)) {
        return number % divisor == 0;
    }
    let quotient = float(number) / float(divisor);
    let deviation = (quotient - quotient.round()).abs();
    quotient.is_finite() && deviation <= quotient.abs().max(1.0) * 1e-12
}

/// Returns a number without a fraction, if it is one of those that are compared
/// exactly: equal numbers give equal integers. Numbers for which this is `None`
/// are only equal to the same double.
pub(crate) fn as_i128(number: &Number) -> Option<i128> {
    let float = float(number);
    let is_exact = float.fract() == 0.0 && float.abs() < INTEGER_LIMIT;
    integer(number).or_else(|| is_exact.then_some(float as i128))
}

fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

pub(crate) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// Returns a number as a double, if that is the same number.
fn exact_float(number: &Number) -> Option<f64> {
    match number.as_i64() {
        Some(whole) => (whole.unsigned_abs() < 1 << f64::MANTISSA_DIGITS).then_some(whole as f64),
        None => number.as_f64().filter(|_| number.is_f64()),
    }
}

fn compare_with_float(integer: i128, float: f64) -> Ordering {
    if float.abs() >= INTEGER_LIMIT {
        return compare_floats(0.0, float);
    }
    let whole = float.trunc() as i128;
    integer
        .cmp(&whole)
        .then_with(|| compare_floats(0.0, float.fract()))
}

fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        let ordered = json!([
            -1e300,
            i64::MIN,
            -1.5,
            -1,
            -0.5,
            0,
            0.5,
            1,
            1.5,
            9_007_199_254_740_992_i64,
            9_007_199_254_740_993_i64,
            i64::MAX,
            u64::MAX,
            1e300
        ]);
        let numbers: Vec<&Number> = ordered
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_number)
            .collect();
        for (at, left) in numbers.iter().enumerate() {
            for (other, right) in numbers.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left} and {right}");
            }
        }
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        assert!(json_equal(
            &json!({"a": [1, 2.0], "b": null}),
            &json!({"b": null, "a": [1.0, 2]})
        ));
        assert!(!json_equal(&json!(1), &json!(true)));
        assert!(!json_equal(&json!([1]), &json!([1, 1])));
        assert!(!json_equal(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!json_equal(&json!("1"), &json!(1)));
    }

    #[test]
    fn texts_of_all_lengths_are_compared_in_every_byte() {
        for length in 0..40 {
            let text = vec![b'a'; length];
            assert!(same_text(&text, &text.clone()));
            assert!(!same_text(&text, &vec![b'a'; length + 1]));
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'b';
                assert!(!same_text(&text, &other), "{at} of {length}");
            }
        }
    }

    #[test]
    fn multiples() {
        for (number, divisor, expected) in [
            (json!(6), json!(3), true),
            (json!(7), json!(3), false),
            (json!(0.3), json!(0.1), true),
            (json!(0.35), json!(0.1), false),
            (json!(4.0), json!(2), true),
            (json!(1e300), json!(0.5), true),
        ] {
            let number = number.as_number().expect("a number");
            let divisor = divisor.as_number().expect("a number");
            assert_eq!(
                is_multiple(number, divisor),
                expected,
                "{number} of {divisor}"
            );
        }
    }
}
