//! The builder of forms that are only known at run time.

use std::{borrow::Cow, fmt};

use bowline_proto::model::{
    ChoiceOption, ChoiceSchema, DecodeError, ElicitSchema, Members, MultiChoiceSchema,
    PropertySchema,
};
use serde_json::{Map, Value};

use super::{AnyOf, Field, FieldBuilder, OneOf, check_answer};

/// A builder for a form, field by field.
///
/// ```
/// use bowline::server::form::{ChoiceSchema, FormBuilder, StringFormat};
///
/// let form = FormBuilder::new()
///     .string("name", |f| f.title("Name").min_length(1))
///     .string("mail", |f| f.format(StringFormat::Email).optional())
///     .integer("bags", |f| f.min(0).max(9).default(1))
///     .choice("seat", ChoiceSchema::untitled(["window", "aisle"]), |f| f)
///     .build()
///     .unwrap();
/// assert_eq!(form.required, ["name", "seat"]);
///
/// let twice = FormBuilder::new().string("name", |f| f).boolean("name", |f| f).build();
/// assert_eq!(twice.unwrap_err().to_string(), "duplicate field `name` in the form");
/// ```
///
/// Its answer is a JSON object; [`FormAnswer`](super::FormAnswer) reads it
/// field by field.
#[derive(Clone, Debug)]
#[must_use]
pub struct FormBuilder {
    schema: ElicitSchema,
    duplicate: Option<String>,
}

impl FormBuilder {
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self {
            schema: ElicitSchema::new(Members::new()),
            duplicate: None,
        }
    }

    /// Adds a field of any type that implements [`Field`].
    pub fn field<T: Field>(
        self,
        name: impl Into<Cow<'static, str>>,
        configure: impl FnOnce(FieldBuilder<T>) -> FieldBuilder<T>,
    ) -> Self {
        self.add(name, configure(T::builder()))
    }

    /// Adds a string field.
    pub fn string(
        self,
        name: impl Into<Cow<'static, str>>,
        configure: impl FnOnce(FieldBuilder<String>) -> FieldBuilder<String>,
    ) -> Self {
        self.field(name, configure)
    }

    /// Adds a number field.
    pub fn number(
        self,
        name: impl Into<Cow<'static, str>>,
        configure: impl FnOnce(FieldBuilder<f64>) -> FieldBuilder<f64>,
    ) -> Self {
        self.field(name, configure)
    }

    /// Adds an integer field.
    pub fn integer(
        self,
        name: impl Into<Cow<'static, str>>,
        configure: impl FnOnce(FieldBuilder<i64>) -> FieldBuilder<i64>,
    ) -> Self {
        self.field(name, configure)
    }

    /// Adds a boolean field.
    pub fn boolean(
        self,
        name: impl Into<Cow<'static, str>>,
        configure: impl FnOnce(FieldBuilder<bool>) -> FieldBuilder<bool>,
    ) -> Self {
        self.field(name, configure)
    }

    /// Adds a choice of one value.
    pub fn choice(
        self,
        name: impl Into<Cow<'static, str>>,
        choices: ChoiceSchema,
        configure: impl FnOnce(FieldBuilder<OneOf>) -> FieldBuilder<OneOf>,
    ) -> Self {
        self.add(name, configure(FieldBuilder::new(choices.into(), true)))
    }

    /// Adds a choice of any number of values.
    pub fn choices(
        self,
        name: impl Into<Cow<'static, str>>,
        choices: ChoiceSchema,
        configure: impl FnOnce(FieldBuilder<AnyOf>) -> FieldBuilder<AnyOf>,
    ) -> Self {
        let schema = multi_choice(choices);
        self.add(name, configure(FieldBuilder::new(schema.into(), false)))
    }

    /// Adds a field from its builder.
    pub fn add<T>(mut self, name: impl Into<Cow<'static, str>>, spec: FieldBuilder<T>) -> Self {
        let name = name.into();
        self.schema.required.retain(|required| *required != name);
        if spec.is_required() {
            self.schema.required.push(name.clone().into_owned());
        }
        if self
            .schema
            .properties
            .insert(name.clone(), spec.schema)
            .is_some()
        {
            self.duplicate.get_or_insert(name.into_owned());
        }
        self
    }

    /// Builds the form.
    ///
    /// # Errors
    ///
    /// Returns an error if two fields have the same name, a choice has no
    /// values, or a default is not a valid answer.
    pub fn build(self) -> Result<ElicitSchema, FormError> {
        if let Some(name) = self.duplicate {
            return Err(FormError::Duplicate(name));
        }
        let has_no_choices = |property: &PropertySchema| match property {
            PropertySchema::Choice(schema) => schema.choices().next().is_none(),
            PropertySchema::MultiChoice(schema) => schema.choices().next().is_none(),
            _ => false,
        };
        for (name, property) in self.schema.properties.iter() {
            if has_no_choices(property) {
                return Err(FormError::NoChoices(name.to_owned()));
            }
        }
        check_defaults(&self.schema).map_err(FormError::Default)?;
        Ok(self.schema)
    }

    /// Returns the form without checking it. If two fields have the same name,
    /// the later one is kept.
    #[must_use]
    pub fn into_schema(self) -> ElicitSchema {
        self.schema
    }
}

impl Default for FormBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the schema of several choices.
pub(super) fn multi_choice(choices: ChoiceSchema) -> MultiChoiceSchema {
    let titled = choices.options.is_some() || choices.value_titles.is_some();
    let mut multi = if titled {
        let option = |(value, title)| ChoiceOption::new(value, title);
        MultiChoiceSchema::titled(choices.choices().map(option))
    } else {
        MultiChoiceSchema::untitled(choices.choices().map(|(value, _)| value))
    };
    multi.title = choices.title;
    multi.description = choices.description;
    multi
}

/// Checks that the form is valid if the user changes nothing.
fn check_defaults(schema: &ElicitSchema) -> Result<(), DecodeError> {
    let defaults: Map<String, Value> = schema
        .properties
        .iter()
        .filter_map(|(name, property)| Some((name.to_owned(), default_value(property)?)))
        .collect();
    let mut lenient = schema.clone();
    lenient.required.clear();
    check_answer(&lenient, &Value::Object(defaults))
}

fn default_value(property: &PropertySchema) -> Option<Value> {
    match property {
        PropertySchema::String(schema) => schema.default.clone().map(Value::from),
        PropertySchema::Choice(schema) => schema.default.clone().map(Value::from),
        PropertySchema::MultiChoice(schema) => schema.default.clone().map(Value::from),
        PropertySchema::Boolean(schema) => schema.default.map(Value::from),
        PropertySchema::Number(schema) => serde_json::to_value(schema.default?).ok(),
        _ => None,
    }
}

/// The error returned if a form is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormError {
    /// Two fields have this name.
    Duplicate(String),
    /// This choice has no values.
    NoChoices(String),
    /// This default is not a valid answer.
    Default(DecodeError),
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(name) => write!(f, "duplicate field `{name}` in the form"),
            Self::NoChoices(name) => write!(f, "the choice `{name}` has no values"),
            Self::Default(fault) => {
                write!(
                    f,
                    "the default of `{}` is not valid: {}",
                    fault.path, fault.message
                )
            }
        }
    }
}

impl std::error::Error for FormError {}
