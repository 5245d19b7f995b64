//! The builder of one form field.

use std::marker::PhantomData;

use bowline_proto::model::{Number, PropertySchema, StringFormat};
use serde_json::Value;

use super::{ChoicesField, Field, NumberField, StringField};

/// A builder for a field of a form. `T` determines which methods it has: only
/// numbers have a `min`, only strings a `format`.
#[derive(Clone, Debug)]
#[must_use]
pub struct FieldBuilder<T> {
    pub(super) schema: PropertySchema,
    required: bool,
    /// Whether the field is marked as optional or has a default.
    is_optional: bool,
    kind: PhantomData<fn() -> T>,
}

/// Marker for one of several values that are known at run time.
#[derive(Debug)]
pub enum OneOf {}

/// Marker for any of several values that are known at run time.
#[derive(Debug)]
pub enum AnyOf {}

impl ChoicesField for AnyOf {}

impl<T> FieldBuilder<T> {
    pub(super) fn new(schema: PropertySchema, required: bool) -> Self {
        let kind = PhantomData;
        Self {
            schema,
            required,
            is_optional: false,
            kind,
        }
    }

    pub(super) fn is_required(&self) -> bool {
        self.required && !self.is_optional
    }

    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        let title = Some(title.into());
        match &mut self.schema {
            PropertySchema::String(schema) => schema.title = title,
            PropertySchema::Number(schema) => schema.title = title,
            PropertySchema::Boolean(schema) => schema.title = title,
            PropertySchema::Choice(schema) => schema.title = title,
            PropertySchema::MultiChoice(schema) => schema.title = title,
            _ => {}
        }
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        let description = Some(description.into());
        match &mut self.schema {
            PropertySchema::String(schema) => schema.description = description,
            PropertySchema::Number(schema) => schema.description = description,
            PropertySchema::Boolean(schema) => schema.description = description,
            PropertySchema::Choice(schema) => schema.description = description,
            PropertySchema::MultiChoice(schema) => schema.description = description,
            _ => {}
        }
        self
    }

    /// Makes the field optional.
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Sets the minimum.
    pub fn min(mut self, min: T::Bound) -> Self
    where
        T: NumberField,
    {
        if let PropertySchema::Number(schema) = &mut self.schema {
            schema.minimum = Some(T::bound(min));
        }
        self
    }

    /// Sets the maximum.
    pub fn max(mut self, max: T::Bound) -> Self
    where
        T: NumberField,
    {
        if let PropertySchema::Number(schema) = &mut self.schema {
            schema.maximum = Some(T::bound(max));
        }
        self
    }

    /// Sets the minimum number of characters.
    pub fn min_length(mut self, characters: u64) -> Self
    where
        T: StringField,
    {
        if let PropertySchema::String(schema) = &mut self.schema {
            schema.min_length = Some(characters);
        }
        self
    }

    /// Sets the maximum number of characters.
    pub fn max_length(mut self, characters: u64) -> Self
    where
        T: StringField,
    {
        if let PropertySchema::String(schema) = &mut self.schema {
            schema.max_length = Some(characters);
        }
        self
    }

    /// Sets the format of the string.
    pub fn format(mut self, format: StringFormat) -> Self
    where
        T: StringField,
    {
        if let PropertySchema::String(schema) = &mut self.schema {
            schema.format = Some(format);
        }
        self
    }

    /// Sets the minimum number of choices. If it is one or more, the field is
    /// required, unless it is an `Option`.
    pub fn min_items(mut self, items: u64) -> Self
    where
        T: ChoicesField,
    {
        if let PropertySchema::MultiChoice(schema) = &mut self.schema {
            schema.min_items = Some(items);
            self.required = items > 0 && !T::MAY_BE_ABSENT;
        }
        self
    }

    /// Sets the maximum number of choices.
    pub fn max_items(mut self, items: u64) -> Self
    where
        T: ChoicesField,
    {
        if let PropertySchema::MultiChoice(schema) = &mut self.schema {
            schema.max_items = Some(items);
        }
        self
    }

    /// Sets the default. The field is then not required.
    pub fn default(self, value: T::Value) -> Self
    where
        T: Field,
    {
        self.set_default(T::to_json(value))
    }

    fn set_default(mut self, value: Value) -> Self {
        match (&mut self.schema, value) {
            (PropertySchema::String(schema), Value::String(text)) => schema.default = Some(text),
            (PropertySchema::Choice(schema), Value::String(text)) => schema.default = Some(text),
            (PropertySchema::Boolean(schema), Value::Bool(flag)) => schema.default = Some(flag),
            (PropertySchema::Number(schema), Value::Number(number)) => {
                schema.default = model_number(&number);
            }
            (PropertySchema::MultiChoice(schema), Value::Array(items)) => {
                let strings = items.iter().filter_map(Value::as_str);
                schema.default = Some(strings.map(str::to_owned).collect());
            }
            _ => {}
        }
        self.is_optional = true;
        self
    }
}

impl FieldBuilder<OneOf> {
    /// Sets the default. The field is then not required.
    pub fn default_choice(self, value: impl Into<String>) -> Self {
        self.set_default(Value::String(value.into()))
    }
}

impl FieldBuilder<AnyOf> {
    /// Sets the defaults. The field is then not required.
    pub fn default_choices(self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.set_default(
            values
                .into_iter()
                .map(Into::into)
                .collect::<Vec<String>>()
                .into(),
        )
    }
}

fn model_number(number: &serde_json::Number) -> Option<Number> {
    let unsigned = number.as_u64().map(Number::from);
    let signed = || number.as_i64().map(Number::from);
    let float = || number.as_f64().map(Number::from);
    unsigned.or_else(signed).or_else(float)
}
