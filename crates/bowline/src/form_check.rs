//! Validation of answers against a form.

use std::borrow::Cow;

use bowline_schema::{ValidationError, ValidationErrorKind as Kind, Validator};
use serde_json::{Number, Value, json};

use crate::proto::model::{
    self, DecodeError, ElicitSchema, Members, NumberKind, PropertySchema, StringSchema,
};

/// Checks that `answer` is a valid answer to a form.
///
/// Lengths are counted in characters, and `1.0` is a whole number. A `null` in an
/// optional field counts as absent, because many programs fill a form that way.
/// Members that the form does not have are refused. What no revision allows in a form
/// is not checked: unknown formats, a [`PropertySchema::Unknown`], members in `extra`.
///
/// ```
#[cfg_attr(feature = "client", doc = "use bowline::client::check_answer;")]
#[cfg_attr(
    not(feature = "client"),
    doc = "use bowline::server::form::check_answer;"
)]
/// use bowline::model::ElicitSchema;
/// use serde_json::json;
///
/// let form: ElicitSchema = serde_json::from_value(json!({
///     "type": "object",
///     "properties": {"nights": {"type": "integer", "minimum": 1}},
///     "required": ["nights"],
/// }))
/// .unwrap();
/// assert!(check_answer(&form, &json!({"nights": 2})).is_ok());
/// let fault = check_answer(&form, &json!({"nights": 0})).unwrap_err();
/// assert_eq!(fault.to_string(), "nights: 0 is less than 1");
/// ```
///
/// To check many answers to one form, use an [`AnswerCheck`].
///
/// # Errors
///
/// Returns the first fault, with the name of the field as its path. Strings are not
/// repeated: they may be long, and they are the user's own.
pub fn check_answer(form: &ElicitSchema, answer: &Value) -> Result<(), DecodeError> {
    AnswerCheck::new(form).check(answer)
}

/// A form, compiled to check answers to it.
#[derive(Clone, Debug)]
pub struct AnswerCheck {
    fields: Members<PropertySchema>,
    validator: Validator,
}

impl AnswerCheck {
    /// Compiles a form.
    #[must_use]
    pub fn new(form: &ElicitSchema) -> Self {
        let options = Validator::options().assert_formats(true);
        // What it is made of are keywords with values of the right type.
        let validator = options.compile(&json_schema(form));
        Self {
            fields: form.properties.clone(),
            validator: validator.unwrap_or_else(|_| Validator::reject_all()),
        }
    }

    /// Checks an answer to the form; see [`check_answer`].
    ///
    /// # Errors
    ///
    /// Returns the first fault, with the name of the field as its path.
    pub fn check(&self, answer: &Value) -> Result<(), DecodeError> {
        let answer = self.without_nulls(answer);
        if self.validator.is_valid(&answer) {
            return Ok(());
        }
        let errors = self.validator.errors(&answer);
        // What is missing comes first, then the fields in the order of the answer.
        let position = |error: &&ValidationError| {
            let field = field_name(error)?;
            let mut names = answer.as_object()?.keys();
            names.position(|name| *name == field)
        };
        match errors.iter().min_by_key(position) {
            Some(first) => Err(self.fault(&answer, first)),
            None => Ok(()),
        }
    }

    /// Removes the members of an answer that count as absent.
    fn without_nulls<'a>(&self, answer: &'a Value) -> Cow<'a, Value> {
        match answer {
            Value::Object(members) if members.values().any(Value::is_null) => {
                let is_present = |(name, member): &(&String, &Value)| {
                    !member.is_null() || !self.fields.contains_key(name)
                };
                let present = members.iter().filter(is_present);
                let present = present.map(|(name, member)| (name.clone(), member.clone()));
                Cow::Owned(present.collect())
            }
            _ => Cow::Borrowed(answer),
        }
    }

    fn fault(&self, answer: &Value, error: &ValidationError) -> DecodeError {
        let suggestion = match &error.suggestion {
            Some(suggestion) => format!("; did you mean `{suggestion}`?"),
            None => String::new(),
        };
        let name = match &error.kind {
            Kind::MissingMember { name } => {
                return DecodeError::new(name, "an answer is required");
            }
            Kind::UnknownMember { name, .. } => {
                let message = format!("the form has no such field{suggestion}");
                return DecodeError::new(name, message);
            }
            _ => field_name(error).unwrap_or_default(),
        };
        let item = match &error.kind {
            Kind::RepeatedItem { index } => Some(index.to_string()),
            _ => error.pointer.split('/').nth(2).map(str::to_owned),
        };
        let item = item.map(|item| format!("[{item}]")).unwrap_or_default();
        let value = answer.pointer(&error.pointer).unwrap_or(&Value::Null);
        let message = message(self.fields.get(&name), value, error);
        DecodeError::new(format!("{name}{item}"), message + &suggestion)
    }
}

/// Returns the schema of the answers to a form. Not the form as it is sent: that may
/// have members which no revision knows.
fn json_schema(form: &ElicitSchema) -> Value {
    let properties = form.properties.iter();
    let properties = properties.map(|(name, property)| (name.to_owned(), field_schema(property)));
    object([
        ("type", json!("object")),
        ("required", json!(form.required)),
        ("properties", properties.collect()),
        ("additionalProperties", json!(false)),
    ])
}

fn field_schema(property: &PropertySchema) -> Value {
    match property {
        PropertySchema::String(schema) => string_schema(schema),
        PropertySchema::Number(schema) => {
            let kind = match schema.kind {
                NumberKind::Integer => "integer",
                _ => "number",
            };
            let bound = |bound: Option<model::Number>| bound.map_or(Value::Null, to_json);
            object([
                ("type", json!(kind)),
                ("minimum", bound(schema.minimum)),
                ("maximum", bound(schema.maximum)),
            ])
        }
        PropertySchema::Boolean(_) => object([("type", json!("boolean"))]),
        PropertySchema::Choice(schema) => choices(schema.choices()),
        PropertySchema::MultiChoice(schema) => object([
            ("type", json!("array")),
            ("items", choices(schema.choices())),
            ("uniqueItems", json!(true)),
            ("minItems", schema.min_items.into()),
            ("maxItems", schema.max_items.into()),
        ]),
        _ => Value::Bool(true),
    }
}

fn string_schema(schema: &StringSchema) -> Value {
    let format = schema.format.as_ref().map(ToString::to_string);
    object([
        ("type", json!("string")),
        ("minLength", schema.min_length.into()),
        ("maxLength", schema.max_length.into()),
        ("format", format.into()),
    ])
}

fn choices<'a>(choices: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let values = choices.map(|(value, _)| Value::from(value));
    object([("enum", values.collect())])
}

/// Returns an object without the members that are null.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns a bound as JSON, which has no infinities.
fn to_json(number: model::Number) -> Value {
    serde_json::to_value(number).unwrap_or_default()
}

/// Returns the name of the field that an error is about, unless it is missing.
fn field_name(error: &ValidationError) -> Option<String> {
    match &error.kind {
        Kind::MissingMember { .. } => None,
        Kind::UnknownMember { name, .. } => Some(name.clone()),
        _ => {
            let name = error.pointer.split('/').nth(1)?;
            Some(name.replace("~1", "/").replace("~0", "~"))
        }
    }
}

/// Returns what is wrong with a value. The property is `None` if the value is the
/// answer itself.
fn message(property: Option<&PropertySchema>, value: &Value, error: &ValidationError) -> String {
    let is_list = matches!(property, Some(PropertySchema::MultiChoice(_)));
    let unit = if is_list { "choices" } else { "characters" };
    match (&error.kind, value) {
        (Kind::WrongType { .. }, Value::Number(number)) if is_integer(property) => {
            format!("{number} is not a whole number")
        }
        (Kind::WrongType { .. }, _) => {
            format!("expected {}, not {}", words(property), type_words(value))
        }
        (Kind::NotAChoice { .. }, Value::String(_)) => "this is not one of the choices".to_owned(),
        (Kind::NotAChoice { .. }, _) => {
            format!("expected one of the choices, not {}", type_words(value))
        }
        (Kind::TooSmall { minimum, .. }, _) => format!("{value} is less than {}", plain(minimum)),
        (Kind::TooLarge { maximum, .. }, _) => {
            format!("{value} is greater than {}", plain(maximum))
        }
        (Kind::TooShort { length, minimum }, _) => {
            format!("{length} {unit}; the minimum is {minimum}")
        }
        (Kind::TooLong { length, maximum }, _) => {
            format!("{length} {unit}; the maximum is {maximum}")
        }
        (Kind::RepeatedItem { .. }, _) => "this choice occurs twice".to_owned(),
        (Kind::FormatMismatch { .. }, _) => format!("this is not {}", error.expected),
        _ => error.message.clone(),
    }
}

fn is_integer(property: Option<&PropertySchema>) -> bool {
    match property {
        Some(PropertySchema::Number(schema)) => schema.kind == NumberKind::Integer,
        _ => false,
    }
}

/// Returns what is expected, in words.
fn words(property: Option<&PropertySchema>) -> &'static str {
    match property {
        None => "an object",
        Some(PropertySchema::Number(_)) if is_integer(property) => "a whole number",
        Some(PropertySchema::Number(_)) => "a number",
        Some(PropertySchema::Boolean(_)) => "a boolean",
        Some(PropertySchema::MultiChoice(_)) => "a list of choices",
        Some(_) => "a string",
    }
}

fn type_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Writes a bound as people do: `2`, not `2.0`.
fn plain(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float.to_string(),
        _ => number.to_string(),
    }
}
