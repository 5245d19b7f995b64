//! When numbers are greater, and when values are the same.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Beyond all integers there are in JSON texts.
const BEYOND: f64 = 1e30;

/// Which of two numbers is greater, however they are written.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => with_float(left, float(right)),
        (None, Some(right)) => with_float(right, float(left)).reverse(),
        (None, None) => by_value(float(left), float(right)),
    }
}

/// Whether two values are the same: numbers by value, objects in any order.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    #[cfg(test)]
    COMPARED.set(COMPARED.get() + 1);
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let twin = |(key, value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(twin)
        }
        _ => left == right,
    }
}

#[cfg(test)]
thread_local! {
    static COMPARED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How many values were compared on this thread.
#[cfg(test)]
pub(super) fn compared() -> u64 {
    COMPARED.get()
}

/// Whether a number has no fraction.
pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || float(number).fract() == 0.0
}

/// Whether a number is a multiple of another. Fractions have no exact form in
/// binary, so what is a multiple but for that is one.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (integer(number), integer(of)) {
        return number % of == 0;
    }
    let quotient = float(number) / float(of);
    let off = (quotient - quotient.round()).abs();
    quotient.is_finite() && off <= quotient.abs().max(1.0) * 1e-12
}

/// A number that has no fraction, where it is one of those that are compared
/// exactly: equal numbers have equal ones, and those that have none are equal
/// only to the same double.
pub(super) fn whole(number: &Number) -> Option<i128> {
    let float = float(number);
    let near = float.fract() == 0.0 && float.abs() < BEYOND;
    integer(number).or_else(|| near.then_some(float as i128))
}

fn integer(number: &Number) -> Option<i128> {
    let signed = number.as_i64().map(i128::from);
    signed.or_else(|| number.as_u64().map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn with_float(integer: i128, float: f64) -> Ordering {
    if float.abs() >= BEYOND {
        return by_value(0.0, float);
    }
    let whole = float.trunc() as i128;
    integer
        .cmp(&whole)
        .then_with(|| by_value(0.0, float.fract()))
}

fn by_value(left: f64, right: f64) -> Ordering {
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
        assert!(same(
            &json!({"a": [1, 2.0], "b": null}),
            &json!({"b": null, "a": [1.0, 2]})
        ));
        assert!(!same(&json!(1), &json!(true)));
        assert!(!same(&json!([1]), &json!([1, 1])));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!same(&json!("1"), &json!(1)));
    }

    #[test]
    fn multiples() {
        for (number, of, expected) in [
            (json!(6), json!(3), true),
            (json!(7), json!(3), false),
            (json!(0.3), json!(0.1), true),
            (json!(0.35), json!(0.1), false),
            (json!(4.0), json!(2), true),
            (json!(1e300), json!(0.5), true),
        ] {
            let (number, of) = (number.as_number().unwrap(), of.as_number().unwrap());
            assert_eq!(is_multiple(number, of), expected, "{number} of {of}");
        }
    }
}
