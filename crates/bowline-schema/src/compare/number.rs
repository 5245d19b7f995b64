//! Multiples of numbers, beyond what validation needs.

use serde_json::Number;

use crate::validate::equal::{self, INTEGER_LIMIT, as_i128, float};

/// How much a quotient of two divisors may deviate from a whole number.
const MAX_DEVIATION: f64 = 1e-15;

/// Returns the largest integer up to a number, unless it is very large.
pub(super) fn floor(number: &Number) -> Option<i128> {
    let float = float(number).floor();
    as_i128(number).or_else(|| (float.abs() < INTEGER_LIMIT).then_some(float as i128))
}

/// Returns whether every multiple of a number is a multiple of a divisor.
pub(super) fn divides(divisor: &Number, number: &Number) -> bool {
    if let (Some(divisor), Some(number)) = (as_i128(divisor), as_i128(number)) {
        return divisor > 0 && number % divisor == 0;
    }
    let quotient = float(number) / float(divisor);
    let deviation = (quotient - quotient.round()).abs();
    quotient.is_finite() && quotient.round() >= 1.0 && deviation <= quotient * MAX_DEVIATION
}

/// Returns whether a value is a multiple of a divisor. As validation has it, up to
/// the rounding error of binary fractions.
pub(super) fn is_multiple(value: &Number, divisor: &Number) -> bool {
    // In a schema that is not valid, a divisor may be zero.
    float(divisor) != 0.0 && equal::is_multiple(value, divisor)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::validate::equal::compare;

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
