//! The forms of elicitation: flat objects of plain values.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Adapt, Dialect, Extra, Members, Number, object::object, open_enum::open_enum};
use crate::jsonrpc::{RawJson, message_without_position};

object! {
    /// A form: one property for each field.
    pub struct ElicitSchema tagged "type" = "object" {
        /// The dialect of JSON Schema.
        schema: Option<String> = optional "$schema" if elicitation.titled_enums,
        /// The fields, in order.
        properties: Members<PropertySchema> = required "properties",
        /// Which must be filled in.
        required: Vec<String> = sparse "required",
    }
}

impl ElicitSchema {
    /// Why the dialect cannot carry this form, if it cannot.
    #[must_use]
    pub fn unsupported_reason(&self, dialect: &Dialect) -> Option<&'static str> {
        let multi = |property| matches!(property, &PropertySchema::MultiChoice(_));
        if !dialect.elicitation.multi_select && self.properties.iter().any(|(_, p)| multi(p)) {
            return Some("this protocol version has no choice of several values");
        }
        None
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PropertySchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several values.
    Choice(ChoiceSchema),
    /// Any of several values.
    MultiChoice(MultiChoiceSchema),
    /// A schema that no revision allows, as it came.
    Unknown(RawJson),
}

object! {
    /// A text.
    pub struct StringSchema tagged "type" = "string" {
        /// The name for people.
        title: Option<String> = optional "title",
        /// What belongs there.
        description: Option<String> = optional "description",
        /// The least number of characters.
        min_length: Option<u64> = optional "minLength",
        /// The greatest number of characters.
        max_length: Option<u64> = optional "maxLength",
        /// What kind of text.
        format: Option<StringFormat> = optional "format",
        /// What to begin with.
        default: Option<String> = optional "default" if elicitation.defaults,
    }
}

open_enum! {
    /// What kind of text.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day.
        Date = "date",
        /// A day and a time.
        DateTime = "date-time",
    }
}

object! {
    /// A number.
    pub struct NumberSchema {
        /// Any number or whole ones.
        kind: NumberKind = required "type",
        /// The name for people.
        title: Option<String> = optional "title",
        /// What belongs there.
        description: Option<String> = optional "description",
        /// The least value.
        minimum: Option<Number> = optional "minimum",
        /// The greatest value.
        maximum: Option<Number> = optional "maximum",
        /// What to begin with.
        default: Option<Number> = optional "default" if elicitation.defaults,
    }
}

open_enum! {
    /// Which numbers.
    pub enum NumberKind {
        /// Any.
        Number = "number",
        /// Whole ones.
        Integer = "integer",
    }
}

object! {
    /// Yes or no.
    pub struct BooleanSchema tagged "type" = "boolean" {
        /// The name for people.
        title: Option<String> = optional "title",
        /// What is asked.
        description: Option<String> = optional "description",
        /// What to begin with.
        default: Option<bool> = optional "default",
    }
}

object! {
    /// One of several values. The values stand in `values`, with or without
    /// `value_titles` beside them, or in `options`.
    pub struct ChoiceSchema tagged "type" = "string" adjusted by ChoiceSchema::adjust {
        /// The name for people.
        title: Option<String> = optional "title",
        /// What is asked.
        description: Option<String> = optional "description",
        /// The values, bare.
        values: Option<Vec<String>> = optional "enum",
        /// Names for people for `values`, one for each. The older way.
        value_titles: Option<Vec<String>> = optional "enumNames",
        /// The values, each with its name for people.
        options: Option<Vec<ChoiceOption>> = optional "oneOf",
        /// What to begin with.
        default: Option<String> = optional "default" if elicitation.defaults,
    }
}

object! {
    /// A value with its name for people.
    pub struct ChoiceOption {
        /// The value.
        value: String = required "const",
        /// Its name for people.
        title: String = required "title",
    }
}

object! {
    /// Any of several values.
    pub struct MultiChoiceSchema tagged "type" = "array" {
        /// The name for people.
        title: Option<String> = optional "title",
        /// What is asked.
        description: Option<String> = optional "description",
        /// How few may be chosen.
        min_items: Option<u64> = optional "minItems",
        /// How many may be chosen.
        max_items: Option<u64> = optional "maxItems",
        /// The values.
        items: ChoiceItems = required "items",
        /// What to begin with.
        default: Option<Vec<String>> = optional "default",
    }
}

object! {
    /// The values of a multiple choice, in one of two forms.
    pub struct ChoiceItems {
        /// `string`, beside bare values.
        kind: Option<String> = optional "type",
        /// The values, bare.
        values: Option<Vec<String>> = optional "enum",
        /// The values, each with its name for people.
        options: Option<Vec<ChoiceOption>> = optional "anyOf",
    }
}

impl ChoiceSchema {
    /// A choice among bare values.
    pub fn untitled(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            values: Some(values.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// A choice among values with names for people.
    pub fn titled(options: impl IntoIterator<Item = ChoiceOption>) -> Self {
        Self {
            options: Some(options.into_iter().collect()),
            ..Self::default()
        }
    }

    /// The values with what to show for each, in whichever form they came.
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

    /// Writes titles the older way where there is no other.
    fn adjust(&mut self, dialect: &Dialect) {
        if !dialect.elicitation.titled_enums
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
    /// A choice among bare values.
    pub fn untitled(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(ChoiceItems {
            kind: Some("string".to_owned()),
            values: Some(values.into_iter().map(Into::into).collect()),
            ..ChoiceItems::default()
        })
    }

    /// A choice among values with names for people.
    pub fn titled(options: impl IntoIterator<Item = ChoiceOption>) -> Self {
        Self::new(ChoiceItems {
            options: Some(options.into_iter().collect()),
            ..ChoiceItems::default()
        })
    }

    /// The values with what to show for each, in whichever form they came.
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
            fn adapt(&mut self, dialect: &Dialect) {
                match self {
                    $( Self::$variant(schema) => schema.adapt(dialect), )*
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
    /// Several kinds share a `type`, so the other members decide; a form is
    /// small, so it may be read twice.
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
