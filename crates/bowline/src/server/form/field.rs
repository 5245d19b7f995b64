//! What may stand in a form.

use bowline_proto::model::{BooleanSchema, DecodeError, Number, PropertySchema, StringSchema};
use serde_json::Value;

use super::{Choice, FieldBuilder, FormAnswer, builder::multi_choice, read_choice};

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
///     fn from_default(default: Self) -> Self {
///         default
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
    note = "ask two questions instead, or make it a choice: an enum of unit variants with \
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

    /// What it means when the field is left out and has a default: the default,
    /// but `None` for an `Option`, whose user may have cleared it.
    fn from_default(default: Self::Value) -> Self;

    /// Writes a value as a form has it.
    fn to_json(value: Self::Value) -> Value;

    /// Begins the description of such a field.
    fn builder() -> FieldBuilder<Self> {
        FieldBuilder::new(Self::schema(), Self::when_absent().is_none())
    }

    /// Reads the field of this name; [`Answer::read`] is the other way round.
    ///
    /// # Errors
    ///
    /// Where it is missing and required, or of another type.
    fn read_from(answer: &FormAnswer<'_>, name: &str) -> Result<Self, DecodeError> {
        match answer.value(name) {
            Some(value) => Self::read(value).map_err(|fault| with_path_prefix(name, fault)),
            None => {
                Self::when_absent().ok_or_else(|| DecodeError::new(name, "an answer is required"))
            }
        }
    }

    /// Reads the field of this name, which has a default;
    /// [`Answer::read_or`] is the other way round.
    ///
    /// # Errors
    ///
    /// Where it is of another type.
    fn read_from_or(
        answer: &FormAnswer<'_>,
        name: &str,
        default: impl FnOnce() -> Self::Value,
    ) -> Result<Self, DecodeError> {
        match answer.value(name) {
            Some(value) => Self::read(value).map_err(|fault| with_path_prefix(name, fault)),
            None => Ok(Self::from_default(default())),
        }
    }
}

/// A field with a least and a greatest number.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers, and `{Self}` is none",
    label = "not a number",
    note = "texts have `min_length` and `max_length`, lists of choices `min_items` and `max_items`"
)]
pub trait NumberField: Field {
    /// What a bound is.
    type Bound;

    /// Writes a bound.
    fn bound(bound: Self::Bound) -> Number;
}

/// A field with a length and a format, and a text as its default.
#[diagnostic::on_unimplemented(
    message = "`min_length`, `max_length`, `format` and a text as `default` are for texts, and \
               `{Self}` is none",
    label = "not a text",
    note = "numbers have `min` and `max`, lists of choices `min_items` and `max_items`; the \
            default of a choice is a variant, as in `default = Seat::Window`"
)]
pub trait StringField: Field<Value = String> {}

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
///
/// ```
/// use bowline::server::form;
///
/// assert_eq!(form::text::<Option<String>>("here"), "here");
/// ```
#[must_use]
pub fn string_default<T: StringField>(string_default: &str) -> T::Value {
    string_default.to_owned()
}

fn with_path_prefix(name: &str, fault: DecodeError) -> DecodeError {
    let dot = if fault.path.is_empty() || fault.path.starts_with('[') {
        ""
    } else {
        "."
    };
    let path = format!("{name}{dot}{}", fault.path);
    DecodeError { path, ..fault }
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
        let string = value.as_str().ok_or_else(|| mismatch("a string"))?;
        Ok(string.to_owned())
    }

    fn from_default(default: Self) -> Self {
        default
    }

    fn to_json(value: Self) -> Value {
        value.into()
    }
}

impl StringField for String {}

impl Field for bool {
    type Value = Self;

    fn schema() -> PropertySchema {
        BooleanSchema::default().into()
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        value.as_bool().ok_or_else(|| mismatch("a boolean"))
    }

    fn from_default(default: Self) -> Self {
        default
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

    fn from_default(_: T::Value) -> Self {
        None
    }

    fn to_json(value: T::Value) -> Value {
        T::to_json(value)
    }
}

impl<T: NumberField> NumberField for Option<T> {
    type Bound = T::Bound;

    fn bound(bound: T::Bound) -> Number {
        T::bound(bound)
    }
}

impl<T: StringField> StringField for Option<T> {}

impl<T: ChoicesField> ChoicesField for Option<T> {
    const MAY_BE_ABSENT: bool = true;
}

/// Any of several values. Left out, it is none of them.
impl<C: Choice> Field for Vec<C> {
    type Value = Self;

    fn schema() -> PropertySchema {
        multi_choice(C::choices()).into()
    }

    fn when_absent() -> Option<Self> {
        Some(Self::new())
    }

    fn read(value: &Value) -> Result<Self, DecodeError> {
        let items = value.as_array();
        let items = items.ok_or_else(|| mismatch("a list of choices"))?;
        let read = |(index, item)| {
            read_choice(item).map_err(|fault| DecodeError::new(format!("[{index}]"), fault.message))
        };
        items.iter().enumerate().map(read).collect()
    }

    fn from_default(default: Self) -> Self {
        default
    }

    fn to_json(value: Self) -> Value {
        value.iter().map(C::as_wire).collect()
    }
}

impl<C: Choice> ChoicesField for Vec<C> {}
