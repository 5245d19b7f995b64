//! What may stand in a form.

use bowline_proto::model::{BooleanSchema, DecodeError, Number, PropertySchema, StringSchema};
use serde_json::Value;

use super::{Choice, build::several};

/// A type that may stand in a form.
///
/// Texts, booleans, numbers, choices, lists of choices, and an `Option` of each.
/// Implement it for a type of your own that is written as one of these:
///
/// ```
/// use bowline::server::form::{DecodeError, Field, PropertySchema, Value};
///
/// struct Iban(String);
///
/// impl Field for Iban {
///     type Value = Self;
///
///     fn schema() -> PropertySchema {
///         String::schema()
///     }
///
///     fn read(value: &Value) -> Result<Self, DecodeError> {
///         String::read(value).map(Self)
///     }
///
///     fn from_value(value: Self) -> Self {
///         value
///     }
///
///     fn to_json(value: Self) -> Value {
///         value.0.into()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a text, a number, a boolean, a choice, or an `Option` of one of these",
    note = "forms are flat: a struct cannot be a field, nor a list of anything but choices",
    note = "ask two questions instead, or make it an enum of unit variants with \
            `#[derive(Elicit)]`"
)]
pub trait Field: Sized + 'static {
    /// A value that is there: `T` for `Option<T>`, else the type itself.
    type Value;

    /// What the form says of such a field, before its title, bounds and so on.
    fn schema() -> PropertySchema;

    /// What it means when the field is left out. A field is required where this
    /// is `None`.
    fn when_absent() -> Option<Self> {
        None
    }

    /// Reads a value that was checked against the form.
    ///
    /// # Errors
    ///
    /// Where the value is not of this type.
    fn read(value: &Value) -> Result<Self, DecodeError>;

    /// Makes a field of a value.
    fn from_value(value: Self::Value) -> Self;

    /// Writes a value as a form has it.
    fn to_json(value: Self::Value) -> Value;
}

/// A field with a least and a greatest number.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers, and `{Self}` is none",
    label = "not a number",
    note = "texts have `min_length` and `max_length`, lists of choices `min_items` and `max_items`"
)]
pub trait NumberField: Field {
    /// Writes a bound.
    fn bound(value: Self::Value) -> Number;
}

/// A field with a length and a format, and a text as its default.
#[diagnostic::on_unimplemented(
    message = "`min_length`, `max_length`, `format` and a text as `default` are for texts, and \
               `{Self}` is none",
    label = "not a text",
    note = "numbers have `min` and `max`, lists of choices `min_items` and `max_items`; the \
            default of a choice is a variant, as in `default = Seat::Window`"
)]
pub trait TextField: Field<Value = String> {}

/// A field of which several may be chosen.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for lists of choices, and `{Self}` is none",
    label = "not a list of choices",
    note = "texts have `min_length` and `max_length`, numbers `min` and `max`"
)]
pub trait ChoicesField {
    /// Whether it may be left out even where some must be chosen.
    const MAY_BE_ABSENT: bool = false;
}

/// A text as the default of a text field.
pub fn text<T: TextField>(text: &str) -> String {
    text.to_owned()
}

/// A value that is not of the type of its field.
pub(super) fn mismatch(expected: &str) -> DecodeError {
    DecodeError::new("", format!("expected {expected}"))
}

impl Field for String {
    type Value = Self;

    fn schema() -> PropertySchema {
        StringSchema::default().into()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        let text = value.as_str().ok_or_else(|| mismatch("a text"))?;
        Ok(text.to_owned())
    }

    fn from_value(value: Self) -> Self {
        value
    }

    fn to_json(value: Self) -> Value {
        value.into()
    }
}

impl TextField for String {}

impl Field for bool {
    type Value = Self;

    fn schema() -> PropertySchema {
        BooleanSchema::default().into()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        value.as_bool().ok_or_else(|| mismatch("a boolean"))
    }

    fn from_value(value: Self) -> Self {
        value
    }

    fn to_json(value: Self) -> Value {
        value.into()
    }
}

impl<T: Field> Field for Option<T> {
    type Value = T::Value;

    fn schema() -> PropertySchema {
        T::schema()
    }

    fn when_absent() -> Option<Self> {
        Some(None)
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        if value.is_null() {
            return Ok(None);
        }
        T::read(value).map(Some)
    }

    fn from_value(value: T::Value) -> Self {
        Some(T::from_value(value))
    }

    fn to_json(value: T::Value) -> Value {
        T::to_json(value)
    }
}

impl<T: NumberField> NumberField for Option<T> {
    fn bound(value: T::Value) -> Number {
        T::bound(value)
    }
}

impl<T: TextField> TextField for Option<T> {}

impl<T: ChoicesField> ChoicesField for Option<T> {
    const MAY_BE_ABSENT: bool = true;
}

// Without the hint, the compiler tells everyone to implement `Choice`.
#[diagnostic::do_not_recommend]
impl<C: Choice> Field for C {
    type Value = Self;

    fn schema() -> PropertySchema {
        C::choices().into()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        value
            .as_str()
            .and_then(C::from_wire)
            .ok_or_else(|| mismatch("one of the choices"))
    }

    fn from_value(value: Self) -> Self {
        value
    }

    fn to_json(value: Self) -> Value {
        value.as_wire().into()
    }
}

/// Any of several values. Left out, it is none of them.
impl<C: Choice> Field for Vec<C> {
    type Value = Self;

    fn schema() -> PropertySchema {
        several(C::choices()).into()
    }

    fn when_absent() -> Option<Self> {
        Some(Self::new())
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        let items = value.as_array();
        let items = items.ok_or_else(|| mismatch("a list of choices"))?;
        let read = |(at, item)| {
            C::read(item).map_err(|fault| DecodeError::new(format!("[{at}]"), fault.message))
        };
        items.iter().enumerate().map(read).collect()
    }

    fn from_value(value: Self) -> Self {
        value
    }

    fn to_json(value: Self) -> Value {
        value.into_iter().map(C::to_json).collect()
    }
}

impl<C: Choice> ChoicesField for Vec<C> {}
