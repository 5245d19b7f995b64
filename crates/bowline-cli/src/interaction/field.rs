//! One field of a form: its description, and parsing values typed for it.

use bowline::{
    client::check_answer,
    model::{
        ElicitSchema, Members, Number, NumberKind, NumberSchema, PropertySchema, StringFormat,
        StringSchema,
    },
};
use serde_json::{Map, Value, json};

use super::one_line;
use crate::output::closest_name;

/// Returns the label of a field: its title or name.
pub(crate) fn label(name: &str, schema: &PropertySchema) -> String {
    one_line(title_and_description(schema).0.unwrap_or(name))
}

/// Returns the title, if the server gives one.
pub(crate) fn title(schema: &PropertySchema) -> Option<&str> {
    title_and_description(schema).0
}

/// Returns the description, if the server gives one.
pub(crate) fn description(schema: &PropertySchema) -> Option<&str> {
    title_and_description(schema).1
}

/// Returns the title and the description.
fn title_and_description(schema: &PropertySchema) -> (Option<&str>, Option<&str>) {
    let (title, description) = match schema {
        PropertySchema::String(s) => (&s.title, &s.description),
        PropertySchema::Number(s) => (&s.title, &s.description),
        PropertySchema::Boolean(s) => (&s.title, &s.description),
        PropertySchema::Choice(s) => (&s.title, &s.description),
        PropertySchema::MultiChoice(s) => (&s.title, &s.description),
        _ => return (None, None),
    };
    (title.as_deref(), description.as_deref())
}

/// Describes the type of value.
pub(crate) fn describe_kind(schema: &PropertySchema) -> String {
    match schema {
        PropertySchema::String(schema) => string_kind(schema),
        PropertySchema::Number(schema) => number_kind(schema),
        PropertySchema::Boolean(_) => "yes or no".to_owned(),
        PropertySchema::Choice(_) => "one of these".to_owned(),
        PropertySchema::MultiChoice(schema) => {
            let bounds = (schema.min_items, schema.max_items);
            match range(bounds.0, bounds.1) {
                Some(range) => format!("{range} of these"),
                None => "any of these".to_owned(),
            }
        }
        _ => "JSON".to_owned(),
    }
}

fn string_kind(schema: &StringSchema) -> String {
    let kind = match &schema.format {
        Some(StringFormat::Email) => "e-mail address",
        Some(StringFormat::Uri) => "URI",
        Some(StringFormat::Date) => "date, such as 2026-07-28",
        Some(StringFormat::DateTime) => "time, such as 2026-07-28T09:30:00Z",
        _ => "text",
    };
    match range(schema.min_length, schema.max_length) {
        Some(range) if range.ends_with(" 1") => format!("{kind}, {range} character"),
        Some(range) => format!("{kind}, {range} characters"),
        None => kind.to_owned(),
    }
}

fn number_kind(schema: &NumberSchema) -> String {
    let kind = match schema.kind {
        NumberKind::Integer => "whole number",
        _ => "number",
    };
    match range(schema.minimum, schema.maximum) {
        Some(range) => format!("{kind}, {range}"),
        None => kind.to_owned(),
    }
}

fn range<T: std::fmt::Display + PartialEq>(min: Option<T>, max: Option<T>) -> Option<String> {
    Some(match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => return None,
    })
}

/// Returns the choices: values and titles.
pub(crate) fn choices(schema: &PropertySchema) -> Vec<(&str, &str)> {
    match schema {
        PropertySchema::Choice(schema) => schema.choices().collect(),
        PropertySchema::MultiChoice(schema) => schema.choices().collect(),
        _ => Vec::new(),
    }
}

/// Returns the default value.
pub(crate) fn default(schema: &PropertySchema) -> Option<Value> {
    match schema {
        PropertySchema::String(schema) => schema.default.as_deref().map(Value::from),
        PropertySchema::Number(schema) => schema.default.map(number),
        PropertySchema::Boolean(schema) => schema.default.map(Value::from),
        PropertySchema::Choice(schema) => schema.default.as_deref().map(Value::from),
        PropertySchema::MultiChoice(schema) => schema.default.clone().map(Value::from),
        _ => None,
    }
}

fn number(number: Number) -> Value {
    match number.as_i64() {
        Some(integer) => integer.into(),
        None => number.as_f64().into(),
    }
}

/// Formats a value as it would be typed.
pub(crate) fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => one_line(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(format_value).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

/// Parses a value typed for the field. [`check_value`] checks the remaining
/// rules.
pub(crate) fn parse_value(schema: &PropertySchema, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    match schema {
        PropertySchema::String(_) => Ok(match trimmed {
            "\"\"" => "".into(),
            _ => trimmed.into(),
        }),
        PropertySchema::Number(_) => match serde_json::from_str(trimmed) {
            Ok(Value::Number(number)) => Ok(Value::Number(number)),
            _ => Err("expected a number".to_owned()),
        },
        PropertySchema::Boolean(_) => match trimmed.to_lowercase().as_str() {
            "y" | "yes" | "true" | "1" => Ok(true.into()),
            "n" | "no" | "false" | "0" => Ok(false.into()),
            _ => Err("expected yes or no".to_owned()),
        },
        PropertySchema::Choice(_) => parse_choice(&choices(schema), trimmed).map(Value::from),
        PropertySchema::MultiChoice(_) => parse_choices(&choices(schema), trimmed),
        _ => serde_json::from_str(trimmed).map_err(|error| format!("expected JSON: {error}")),
    }
}

/// Parses a choice by its value, its title, or its number, in this order: a
/// value may look like a number.
fn parse_choice<'a>(choices: &[(&'a str, &str)], text: &str) -> Result<&'a str, String> {
    let by_name = |(value, title): &&(&str, &str)| *value == text || *title == text;
    let lower = text.to_lowercase();
    let ignoring_case = |(value, title): &&(&str, &str)| {
        value.to_lowercase() == lower || title.to_lowercase() == lower
    };
    let by_number = || {
        let number: usize = text.parse().ok()?;
        choices.get(number.checked_sub(1)?)
    };
    let found = choices
        .iter()
        .find(by_name)
        .or_else(|| choices.iter().find(ignoring_case))
        .or_else(by_number);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let known = choices.iter().flat_map(|(value, title)| [*value, *title]);
        match closest_name(text, known) {
            Some(suggestion) => {
                format!("`{text}` is not one of the choices; did you mean `{suggestion}`?")
            }
            None => format!("`{text}` is not one of the choices"),
        }
    })
}

/// Parses choices separated by commas, or `none`.
fn parse_choices(choices: &[(&str, &str)], text: &str) -> Result<Value, String> {
    if text.is_empty() || (text == "none" && parse_choice(choices, text).is_err()) {
        return Ok(json!([]));
    }
    // A choice may contain a comma.
    if let Ok(only) = parse_choice(choices, text) {
        return Ok(json!([only]));
    }
    let mut chosen: Vec<&str> = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let value = parse_choice(choices, part)?;
        if !chosen.contains(&value) {
            chosen.push(value);
        }
    }
    Ok(chosen.into())
}

/// Checks a value against the rules of the form.
pub(crate) fn check_value(
    name: &str,
    schema: &PropertySchema,
    value: &Value,
) -> Result<(), String> {
    let field: Members<PropertySchema> = [(name.to_owned(), schema.clone())].into_iter().collect();
    let answer: Map<String, Value> = [(name.to_owned(), value.clone())].into_iter().collect();
    let form = ElicitSchema::new(field);
    check_answer(&form, &Value::Object(answer)).map_err(|error| {
        let text = error.to_string();
        // The user knows which field it is about.
        let why = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text);
        why.to_owned()
    })
}

/// Returns whether the field seems to ask for a secret, which forms must not
/// do.
pub(crate) fn is_likely_secret(name: &str, schema: &PropertySchema) -> bool {
    const KEYWORDS: [&str; 12] = [
        "password",
        "passwort",
        "passphrase",
        "passcode",
        "secret",
        "apikey",
        "accesskey",
        "token",
        "privatekey",
        "credential",
        "creditcard",
        "cvv",
    ];
    if !matches!(
        schema,
        PropertySchema::String(_) | PropertySchema::Number(_)
    ) {
        return false;
    }
    let (title, _) = title_and_description(schema);
    [Some(name), title].into_iter().flatten().any(|text| {
        let normalized: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        let normalized = normalized.to_lowercase();
        KEYWORDS.iter().any(|keyword| normalized.contains(keyword))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(json: Value) -> PropertySchema {
        serde_json::from_value(json).expect("a field")
    }

    #[track_caller]
    fn check(field: Value, cases: &[(&str, Option<Value>)]) {
        let schema = schema(field);
        for (text, expected) in cases {
            let read = parse_value(&schema, text);
            let checked =
                read.and_then(|value| check_value("field", &schema, &value).map(|()| value));
            assert_eq!(checked.ok(), *expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_read_and_kept_within_bounds() {
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 9}),
            &[
                ("3", Some(json!(3))),
                (" 9 ", Some(json!(9))),
                ("0", None),
                ("2.5", None),
                ("three", None),
                ("\"3\"", None),
                ("", None),
            ],
        );
        check(
            json!({"type": "number"}),
            &[("-2.5e1", Some(json!(-25.0))), ("NaN", None)],
        );
    }

    #[test]
    fn booleans_are_read_as_people_say_them() {
        check(
            json!({"type": "boolean"}),
            &[
                ("Y", Some(json!(true))),
                ("no", Some(json!(false))),
                ("maybe", None),
            ],
        );
    }

    #[test]
    fn choices_go_by_value_title_or_number() {
        let field = json!({"type": "string", "oneOf": [
            {"const": "w", "title": "Window"}, {"const": "a", "title": "Aisle"},
            {"const": "1", "title": "First row"},
        ]});
        check(
            field.clone(),
            &[
                ("w", Some(json!("w"))),
                ("aisle", Some(json!("a"))),
                ("2", Some(json!("a"))),
                ("1", Some(json!("1"))),
                ("4", None),
                ("0", None),
            ],
        );
        let why = parse_value(&schema(field), "aisel").expect_err("no such choice");
        assert!(why.ends_with("did you mean `Aisle`?"), "{why}");
    }

    #[test]
    fn several_choices_have_commas_between_them() {
        check(
            json!({"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["a", "b, c", "d"]}}),
            &[
                ("a", Some(json!(["a"]))),
                ("a, 3, a", Some(json!(["a", "d"]))),
                ("b, c", Some(json!(["b, c"]))),
                ("none", Some(json!([]))),
                ("1,2,3", None),
                ("e", None),
            ],
        );
    }

    #[test]
    fn texts_have_formats_and_lengths() {
        check(
            json!({"type": "string", "minLength": 1}),
            &[(" Ada ", Some(json!("Ada"))), ("\"\"", None)],
        );
        check(
            json!({"type": "string", "format": "email"}),
            &[
                ("ada@post.example", Some(json!("ada@post.example"))),
                ("ada", None),
            ],
        );
    }

    #[test]
    fn fields_that_ask_for_secrets_are_known() {
        let text = schema(json!({"type": "string"}));
        for name in ["password", "API key", "access_token", "creditCard"] {
            assert!(is_likely_secret(name, &text), "{name}");
        }
        for name in ["seat", "passenger", "keyboard"] {
            assert!(!is_likely_secret(name, &text), "{name}");
        }
        assert!(!is_likely_secret(
            "token",
            &schema(json!({"type": "boolean"}))
        ));
    }

    #[test]
    fn what_a_field_wants_in_words() {
        let cases = [
            (
                json!({"type": "integer", "minimum": 1, "maximum": 9}),
                "whole number, 1 to 9",
            ),
            (
                json!({"type": "string", "minLength": 3}),
                "text, at least 3 characters",
            ),
            (
                json!({"type": "string", "format": "date"}),
                "date, such as 2026-07-28",
            ),
            (
                json!({"type": "array", "maxItems": 2, "items": {"enum": ["a"]}}),
                "at most 2 of these",
            ),
        ];
        for (field, words) in cases {
            assert_eq!(describe_kind(&schema(field)), words);
        }
    }
}
