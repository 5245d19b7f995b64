//! The forms of elicitation: flat objects of primitive values.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Adapt, Extra, Members, Number, WireFeatures, object::object, open_enum::open_enum};
use crate::jsonrpc::{RawJson, message_without_position};

object! {
    /// A form, with one property for each field.
    pub struct ElicitSchema tagged "type" = "object" {
        /// The dialect of JSON Schema.
        schema: Option<String> = optional "$schema" if elicitation.titled_enums,
        /// The fields, in order.
        properties: Members<PropertySchema> = required "properties",
        /// The required fields.
        required: Vec<String> = sparse "required",
    }
}

impl ElicitSchema {
    /// Returns why the wire format cannot carry this form, or `None` if it can.
    #[must_use]
    pub fn unsupported_reason(&self, features: &WireFeatures) -> Option<&'static str> {
        let multi = |property| matches!(property, &PropertySchema::MultiChoice(_));
        if !features.elicitation.multi_select && self.properties.iter().any(|(_, p)| multi(p)) {
            return Some("this protocol version does not support multiple choice");
        }
        None
    }
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PropertySchema {
    /// A string.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// A boolean.
    Boolean(BooleanSchema),
    /// A single choice.
    Choice(ChoiceSchema),
    /// A multiple choice.
    MultiChoice(MultiChoiceSchema),
    /// A schema that no revision allows, verbatim.
    Unknown(RawJson),
}

object! {
    /// A string field.
    pub struct StringSchema tagged "type" = "string" {
        /// The display name.
        title: Option<String> = optional "title",
        /// A description of the field.
        description: Option<String> = optional "description",
        /// The minimum number of characters.
        min_length: Option<u64> = optional "minLength",
        /// The maximum number of characters.
        max_length: Option<u64> = optional "maxLength",
        /// The format of the string.
        format: Option<StringFormat> = optional "format",
        /// The default value.
        default: Option<String> = optional "default" if elicitation.defaults,
    }
}

open_enum! {
    /// The format of a string.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and a time.
        DateTime = "date-time",
    }
}

object! {
    /// A number field.
    pub struct NumberSchema {
        /// Any number, or integers only.
        kind: NumberKind = required "type",
        /// The display name.
        title: Option<String> = optional "title",
        /// A description of the field.
        description: Option<String> = optional "description",
        /// The minimum.
        minimum: Option<Number> = optional "minimum",
        /// The maximum.
        maximum: Option<Number> = optional "maximum",
        /// The default value.
        default: Option<Number> = optional "default" if elicitation.defaults,
    }
}

open_enum! {
    /// The kind of number.
    pub enum NumberKind {
        /// Any number.
        Number = "number",
        /// Integers only.
        Integer = "integer",
    }
}

object! {
    /// A boolean field.
    pub struct BooleanSchema tagged "type" = "boolean" {
        /// The display name.
        title: Option<String> = optional "title",
        /// The question.
        description: Option<String> = optional "description",
        /// The default value.
        default: Option<bool> = optional "default",
    }
}

object! {
    /// A single choice. The values are in `values`, with or without
    /// `value_titles`, or in `options`.
    pub struct ChoiceSchema tagged "type" = "string" adjusted by ChoiceSchema::adjust {
        /// The display name.
        title: Option<String> = optional "title",
        /// The question.
        description: Option<String> = optional "description",
        /// The values, without titles.
        values: Option<Vec<String>> = optional "enum",
        /// Display names for `values`, one for each. The older form.
        value_titles: Option<Vec<String>> = optional "enumNames",
        /// The values with their display names.
        options: Option<Vec<ChoiceOption>> = optional "oneOf",
        /// The default value.
        default: Option<String> = optional "default" if elicitation.defaults,
    }
}

object! {
    /// A value with its display name.
    pub struct ChoiceOption {
        /// The value.
        value: String = required "const",
        /// Its display name.
        title: String = required "title",
    }
}

object! {
    /// A multiple choice.
    pub struct MultiChoiceSchema tagged "type" = "array" {
        /// The display name.
        title: Option<String> = optional "title",
        /// The question.
        description: Option<String> = optional "description",
        /// The minimum number of choices.
        min_items: Option<u64> = optional "minItems",
        /// The maximum number of choices.
        max_items: Option<u64> = optional "maxItems",
        /// The values.
        items: ChoiceItems = required "items",
        /// The default value.
        default: Option<Vec<String>> = optional "default",
    }
}

object! {
    /// The values of a multiple choice, in one of two forms.
    pub struct ChoiceItems {
        /// `string`, for values without titles.
        kind: Option<String> = optional "type",
        /// The values, without titles.
        values: Option<Vec<String>> = optional "enum",
        /// The values with their display names.
        options: Option<Vec<ChoiceOption>> = optional "anyOf",
    }
}

impl ChoiceSchema {
    /// Creates a choice among values without titles.
    pub fn untitled(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            values: Some(values.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// Creates a choice among values with display names.
    pub fn titled(options: impl IntoIterator<Item = ChoiceOption>) -> Self {
        Self {
            options: Some(options.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Returns the values with their display names, in either form.
    pub fn choices(&self) -> impl Iterator<Item = (&str, &str)> {
        let titles = self.value_titles.as_deref().unwrap_or_default();
        let untitled = self
            .values
            .iter()
            .flatten()
            .enumerate()
            .map(|(index, value)| {
                let title = titles.get(index).unwrap_or(value);
                (value.as_str(), title.as_str())
            });
        let titled = self.options.iter().flatten().map(ChoiceOption::pair);
        untitled.chain(titled)
    }

    /// Writes titles in the older form if the wire format has no other.
    fn adjust(&mut self, features: &WireFeatures) {
        if !features.elicitation.titled_enums
            && let Some(options) = self.options.take()
        {
            let (values, titles) = options
                .into_iter()
                .map(|option| (option.value, option.title))
                .unzip();
            self.values = Some(values);
            self.value_titles = Some(titles);
        }
    }
}

impl MultiChoiceSchema {
    /// Creates a choice among values without titles.
    pub fn untitled(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(ChoiceItems {
            kind: Some("string".to_owned()),
            values: Some(values.into_iter().map(Into::into).collect()),
            ..ChoiceItems::default()
        })
    }

    /// Creates a choice among values with display names.
    pub fn titled(options: impl IntoIterator<Item = ChoiceOption>) -> Self {
        Self::new(ChoiceItems {
            options: Some(options.into_iter().collect()),
            ..ChoiceItems::default()
        })
    }

    /// Returns the values with their display names, in either form.
    pub fn choices(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.items.values.iter().flatten();
        let options = self.items.options.iter().flatten();
        values
            .map(|value| (value.as_str(), value.as_str()))
            .chain(options.map(ChoiceOption::pair))
    }
}

impl ChoiceOption {
    fn pair(&self) -> (&str, &str) {
        (&self.value, &self.title)
    }
}

macro_rules! property_kinds {
    ($($variant:ident($inner:ty)),* $(,)?) => {
        $(
            impl From<$inner> for PropertySchema {
                fn from(schema: $inner) -> Self {
                    Self::$variant(schema)
                }
            }
        )*

        impl Adapt for PropertySchema {
            fn adapt(&mut self, features: &WireFeatures) {
                match self {
                    $( Self::$variant(schema) => schema.adapt(features), )*
                    Self::Unknown(_) => {}
                }
            }
        }

        impl Serialize for PropertySchema {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(schema) => schema.serialize(serializer), )*
                    Self::Unknown(raw) => raw.serialize(serializer),
                }
            }
        }
    };
}

property_kinds! {
    String(StringSchema),
    Number(NumberSchema),
    Boolean(BooleanSchema),
    Choice(ChoiceSchema),
    MultiChoice(MultiChoiceSchema),
}

impl<'de> Deserialize<'de> for PropertySchema {
    /// Several kinds share a `type`, so other members decide. A form is small,
    /// so it may be parsed twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let Ok(members) = raw.decode::<Extra>() else {
            return Ok(Self::Unknown(raw));
        };
        let decoded = match members.get("type").map(RawJson::get) {
            Some("\"string\"") if is_choice(&members) => raw.decode().map(Self::Choice),
            Some("\"string\"") => raw.decode().map(Self::String),
            Some("\"number\"" | "\"integer\"") => raw.decode().map(Self::Number),
            Some("\"boolean\"") => raw.decode().map(Self::Boolean),
            Some("\"array\"") if has_choices(&members) => raw.decode().map(Self::MultiChoice),
            _ => Ok(Self::Unknown(raw)),
        };
        decoded.map_err(|error| D::Error::custom(message_without_position(&error)))
    }
}

fn is_choice(schema: &Extra) -> bool {
    schema.contains_key("enum") || schema.contains_key("oneOf")
}

fn has_choices(schema: &Extra) -> bool {
    let items = schema
        .get("items")
        .and_then(|items| items.decode::<Extra>().ok());
    items.is_some_and(|items| items.contains_key("enum") || items.contains_key("anyOf"))
}
