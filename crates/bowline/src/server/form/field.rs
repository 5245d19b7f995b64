//! Field types of forms.

use bowline_proto::model::{BooleanSchema, DecodeError, Number, PropertySchema, StringSchema};
use serde_json::Value;

use super::{Choice, FieldBuilder, FormAnswer, builder::multi_choice, read_choice};

/// A type that can be a field of a form.
///
/// Strings, booleans, numbers, choices, lists of choices, and an `Option` of
/// each. Implement it for your own type if it is written as one of these:
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
    label = "not a string, a number, a boolean, a choice, or an `Option` of one of these",
    note = "forms are flat: a struct cannot be a field, nor a list of anything but choices",
    note = "ask two questions instead, or make it a choice: an enum of unit variants with \
            `#[derive(Elicit)]`"
)]
pub trait Field: Sized + 'static {
    /// The type of a present value: `T` for `Option<T>`, otherwise the type
    /// itself.
    type Value;

    /// Returns the schema of such a field, before its title, bounds and so on
    /// are set.
    fn schema() -> PropertySchema;

    /// Returns the value of an omitted field. A field is required if this is
    /// `None`.
    fn when_absent() -> Option<Self> {
        None
    }

    /// Reads a value that was checked against the form.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not of this type.
    fn read(value: &Value) -> Result<Self, DecodeError>;

    /// Returns the value of an omitted field that has a default: the default,
    /// but `None` for an `Option`, which the user may have cleared.
    fn from_default(default: Self::Value) -> Self;

    /// Converts a value into JSON.
    fn to_json(value: Self::Value) -> Value;

    /// Returns a builder for such a field.
    fn builder() -> FieldBuilder<Self> {
        FieldBuilder::new(Self::schema(), Self::when_absent().is_none())
    }

    /// Reads the field with this name. The counterpart of
    /// [`FormAnswer::read`](super::FormAnswer::read).
    ///
    /// # Errors
    ///
    /// Returns an error if the field is required and missing, or of another
    /// type.
    fn read_from(answer: &FormAnswer<'_>, name: &str) -> Result<Self, DecodeError> {
        match answer.value(name) {
            Some(value) => Self::read(value).map_err(|fault| with_path_prefix(name, fault)),
            None => {
                Self::when_absent().ok_or_else(|| DecodeError::new(name, "an answer is required"))
            }
        }
    }

    /// Reads the field with this name, which has a default. The counterpart of
    /// [`FormAnswer::read_or`](super::FormAnswer::read_or).
    ///
    /// # Errors
    ///
    /// Returns an error if the field is of another type.
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

/// A field with a minimum and a maximum.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` are for numbers, and `{Self}` is not one",
    label = "not a number",
    note = "strings have `min_length` and `max_length`, lists of choices `min_items` and `max_items`"
)]
pub trait NumberField: Field {
    /// The type of a bound.
    type Bound;

    /// Converts a bound into a JSON number.
    fn bound(bound: Self::Bound) -> Number;
}

/// A field with a length, a format, and a string as its default.
#[diagnostic::on_unimplemented(
    message = "`min_length`, `max_length`, `format` and a string as `default` are for strings, and \
               `{Self}` is not one",
    label = "not a string",
    note = "numbers have `min` and `max`, lists of choices `min_items` and `max_items`; the \
            default of a choice is a variant, as in `default = Seat::Window`"
)]
pub trait StringField: Field<Value = String> {}

/// A field with several choices.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for lists of choices, and `{Self}` is not one",
    label = "not a list of choices",
    note = "strings have `min_length` and `max_length`, numbers `min` and `max`"
)]
pub trait ChoicesField {
    /// Whether the field may be omitted even if a minimum number of choices is
    /// set.
    const MAY_BE_ABSENT: bool = false;
}

/// Returns the default of a string field.
///
/// ```
/// use bowline::server::form;
///
/// assert_eq!(form::string_default::<Option<String>>("here"), "here");
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

/// Returns the error for a value of the wrong type.
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

/// A list of choices. If omitted, it is empty.
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
