//! Numbers as form fields.

use bowline_proto::model::{DecodeError, Number, NumberKind, NumberSchema, PropertySchema};
use serde_json::Value;

use super::{Field, NumberField, field::mismatch};

/// Implements [`Field`] for integers, with the bounds of the type.
///
/// The bounds of types of 64 bits and more are left out: a client that stores
/// numbers as doubles would round them to values that are out of range. Values
/// that do not fit are rejected when they are read.
macro_rules! integers {
    ($( $number:ty, $min:expr, $max:expr; )*) => { $(
        impl Field for $number {
            type Value = Self;

            fn schema() -> PropertySchema {
                let mut schema = NumberSchema::new(NumberKind::Integer);
                let (min, max): (Option<i64>, Option<i64>) = ($min, $max);
                schema.minimum = min.map(Number::from);
                schema.maximum = max.map(Number::from);
                schema.into()
            }

            fn read(value: &Value) -> Result<Self, DecodeError> {
                let number = whole(value).ok_or_else(|| mismatch("an integer"))?;
                let converted = Self::try_from(number).ok();
                converted.ok_or_else(|| DecodeError::new("", format!("{number} is out of range")))
            }

            fn from_default(default: Self) -> Self {
                default
            }

            fn to_json(value: Self) -> Value {
                serde_json::to_value(Self::bound(value)).unwrap_or_default()
            }
        }

        impl NumberField for $number {
            type Bound = Self;

            fn bound(value: Self) -> Number {
                integer(value, value as f64)
            }
        }
    )* };
}

integers! {
    u8, Some(0), Some(Self::MAX.into());
    u16, Some(0), Some(Self::MAX.into());
    u32, Some(0), Some(Self::MAX.into());
    u64, Some(0), None;
    u128, Some(0), None;
    usize, Some(0), None;
    i8, Some(Self::MIN.into()), Some(Self::MAX.into());
    i16, Some(Self::MIN.into()), Some(Self::MAX.into());
    i32, Some(Self::MIN.into()), Some(Self::MAX.into());
    i64, None, None;
    i128, None, None;
    isize, None, None;
}

/// Returns the exact number if it fits a JSON integer, otherwise the nearest
/// double.
fn integer<N: TryInto<i64> + TryInto<u64> + Copy>(value: N, nearest: f64) -> Number {
    let signed: Option<i64> = value.try_into().ok();
    let unsigned = || value.try_into().ok().map(<Number as From<u64>>::from);
    signed
        .map(Number::from)
        .or_else(unsigned)
        .unwrap_or_else(|| nearest.into())
}

/// Returns an integer, however it is written: `3`, `3.0`, `3e0`.
fn whole(value: &Value) -> Option<i128> {
    let Value::Number(number) = value else {
        return None;
    };
    if let Some(number) = number.as_i64() {
        return Some(number.into());
    }
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    // Beyond this the cast would not be exact.
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 1e38;
    Some(number.as_f64().filter(whole)? as i128)
}

impl Field for f64 {
    type Value = Self;

    fn schema() -> PropertySchema {
        NumberSchema::new(NumberKind::Number).into()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        value.as_f64().ok_or_else(|| mismatch("a number"))
    }

    fn from_default(default: Self) -> Self {
        default
    }

    fn to_json(value: Self) -> Value {
        value.into()
    }
}

impl NumberField for f64 {
    type Bound = Self;

    fn bound(value: Self) -> Number {
        value.into()
    }
}

impl Field for f32 {
    type Value = Self;

    fn schema() -> PropertySchema {
        f64::schema()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        let number = f64::read(value)? as Self;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(DecodeError::new("", "this number is out of range"))
        }
    }

    fn from_default(default: Self) -> Self {
        default
    }

    fn to_json(value: Self) -> Value {
        widen(value).into()
    }
}

impl NumberField for f32 {
    type Bound = Self;

    fn bound(value: Self) -> Number {
        widen(value).into()
    }
}

/// Returns the double with the same decimal notation, so a bound of `0.1` is
/// written as `0.1`.
fn widen(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}
