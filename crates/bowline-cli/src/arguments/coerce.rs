//! Converting strings to values, by a schema.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::{check, loose_json, problem::ArgumentProblem};
use crate::signature::{Budget, Detail, Kind, Schema, node::Node, type_name};

/// Maximum number of subschemas visited while collecting alternatives.
const MAX_SUBSCHEMAS: usize = 1_000;
/// Maximum number of alternatives tried.
const MAX_ALTERNATIVES: usize = 256;

/// Converts a string to a value. If the schema allows any type, valid JSON is
/// parsed and everything else is a string.
pub(super) fn coerce(path: &str, text: &str, schema: Schema<'_>) -> Result<Value, ArgumentProblem> {
    let resolved = schema.resolved();
    if let Some(choices) = resolved.choices() {
        return coerce_choice(path, text, &choices);
    }
    let Alternatives {
        mut candidates,
        is_complete,
        ..
    } = Alternatives::collect(resolved);
    if candidates.iter().any(|(kind, _)| kind.is_none()) || candidates.is_empty() {
        return Ok(parse_untyped(text));
    }
    candidates.sort_by_key(|(kind, _)| *kind);
    let mut non_null = candidates
        .iter()
        .filter(|(kind, _)| *kind != Some(Kind::Null));
    let is_nullable = candidates.iter().any(|(kind, _)| *kind == Some(Kind::Null));
    if is_nullable && text == "null" {
        return Ok(Value::Null);
    }
    let found = match (non_null.next(), non_null.next()) {
        (Some((Some(kind), only)), None) => coerce_to_kind(*kind, path, text, *only)?,
        _ => first_valid(&candidates, text).or_else(|| coerce_single_item(path, &candidates, text)),
    };
    match found {
        Some(value) => Ok(value),
        // An alternative that was not visited may accept it.
        None if !is_complete => Ok(parse_untyped(text)),
        None => Err(ArgumentProblem::invalid(
            path,
            type_name(schema, Detail::SHORT),
            &text.into(),
        )),
    }
}

/// Converts a string without a schema: valid JSON is parsed.
pub(super) fn parse_untyped(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Parses a bracketed list.
pub(super) fn parse_array(text: &str) -> Option<Value> {
    parse_if_prefixed(text, '[')
}

/// Returns all array schemas that a schema allows.
pub(super) fn array_schemas(schema: Schema<'_>) -> Vec<Schema<'_>> {
    let lists = Alternatives::collect(schema)
        .candidates
        .into_iter()
        .filter(|(kind, _)| matches!(kind, None | Some(Kind::Array)));
    lists.map(|(_, list)| list).collect()
}

/// Returns the first interpretation that is valid; if there is none, the first
/// one, for which the check then reports a problem.
fn first_valid(candidates: &[(Option<Kind>, Schema<'_>)], text: &str) -> Option<Value> {
    let coerce_candidate = |(kind, schema): &(Option<Kind>, Schema<'_>)| {
        let value = coerce_strict(kind.as_ref()?, text)?;
        let is_valid = check::is_valid(&value, *schema);
        Some((value, is_valid))
    };
    let coerced: Vec<_> = candidates.iter().filter_map(coerce_candidate).collect();
    let valid = coerced.iter().find(|(_, is_valid)| *is_valid);
    let chosen = valid.or_else(|| coerced.first());
    chosen.map(|(value, _)| value.clone())
}

/// Returns a list of one item, if nothing else can be meant.
fn coerce_single_item(
    path: &str,
    candidates: &[(Option<Kind>, Schema<'_>)],
    text: &str,
) -> Option<Value> {
    let lists = candidates
        .iter()
        .filter(|(kind, _)| *kind == Some(Kind::Array));
    let mut read =
        lists.filter_map(|(_, list)| coerce_to_kind(Kind::Array, path, text, *list).ok()?);
    read.next()
}

/// The types a value may have, with the schema of each. `None` means any type.
struct Alternatives<'a> {
    candidates: Vec<(Option<Kind>, Schema<'a>)>,
    /// Whether the list is complete.
    is_complete: bool,
    budget: Budget,
    /// Visited schemas: alternatives may be recursive.
    seen: HashSet<*const Node>,
}

impl<'a> Alternatives<'a> {
    fn collect(schema: Schema<'a>) -> Self {
        let mut alternatives = Self {
            candidates: Vec::new(),
            is_complete: true,
            budget: Budget::new(MAX_SUBSCHEMAS),
            seen: HashSet::new(),
        };
        alternatives.visit(schema);
        alternatives
    }

    fn visit(&mut self, schema: Schema<'a>) {
        let resolved = schema.resolved();
        if !self.seen.insert(resolved.identity()) {
            return;
        }
        if self.candidates.len() >= MAX_ALTERNATIVES || !self.budget.spend_on(resolved) {
            self.is_complete = false;
            return;
        }
        let variants = resolved.variants();
        if !variants.is_empty() {
            return variants.into_iter().for_each(|variant| self.visit(variant));
        }
        let kinds = resolved.kinds();
        if kinds.is_empty() {
            self.candidates.push((None, resolved));
        }
        let kinds = kinds.into_iter().map(|kind| (Some(kind), resolved));
        self.candidates.extend(kinds);
    }
}

/// Converts one of several choices: by its string, or by its JSON.
fn coerce_choice(path: &str, text: &str, choices: &[&Node]) -> Result<Value, ArgumentProblem> {
    let is_match = |choice: &&&Node| match choice {
        Node::String(choice) => choice == text,
        other => other.to_string() == text || same_number(other, text),
    };
    if let Some(choice) = choices.iter().find(is_match) {
        return Ok(choice.to_value());
    }
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    Err(ArgumentProblem::Invalid {
        path: path.to_owned(),
        expected: names.join(" | "),
        found: Value::from(text).to_string(),
        choices: choices.iter().map(|choice| choice_string(choice)).collect(),
    })
}

fn same_number(choice: &Node, text: &str) -> bool {
    choice
        .as_f64()
        .is_some_and(|number| text.parse() == Ok(number))
}

/// Formats a choice as it is typed.
fn choice_string(choice: &Node) -> String {
    match choice {
        Node::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Converts to the only allowed type. `None` if the string is not valid for it.
fn coerce_to_kind(
    kind: Kind,
    path: &str,
    text: &str,
    schema: Schema<'_>,
) -> Result<Option<Value>, ArgumentProblem> {
    Ok(match kind {
        Kind::String => Some(text.into()),
        Kind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true.into()),
            "false" | "no" | "0" => Some(false.into()),
            _ => None,
        },
        Kind::Array => match parse_if_prefixed(text, '[') {
            Some(list) => Some(list),
            // An item may be a list itself.
            None => {
                let item = match schema.items() {
                    Some(items) => coerce(path, text, items)?,
                    None => parse_untyped(text),
                };
                Some(Value::Array(vec![item]))
            }
        },
        Kind::Object => parse_if_prefixed(text, '{'),
        other => coerce_strict(&other, text),
    })
}

/// Converts to one of several types, if the string is hardly anything else.
fn coerce_strict(kind: &Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Null => (text == "null").then_some(Value::Null),
        Kind::Boolean => match text {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        Kind::Integer => parse_integer(text).map(Value::Number),
        Kind::Number => parse_number(text).map(Value::Number),
        Kind::Array => parse_if_prefixed(text, '['),
        Kind::Object => parse_if_prefixed(text, '{'),
        Kind::String => Some(text.into()),
    }
}

fn parse_integer(text: &str) -> Option<Number> {
    let signed = text.parse::<i64>().ok().map(Number::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Number::from))
}

fn parse_number(text: &str) -> Option<Number> {
    let unsigned = text.trim_start_matches(['-', '+']);
    // Rust also parses `inf` and `nan`.
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let float = || text.parse().ok().and_then(Number::from_f64);
    parse_integer(text).or_else(float)
}

fn parse_if_prefixed(text: &str, opening: char) -> Option<Value> {
    let is_prefixed = text.trim_start().starts_with(opening);
    is_prefixed.then(|| loose_json::parse(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::coerce;
    use crate::signature::Document;

    fn value(schema: &str, text: &str) -> Option<Value> {
        let document = Document::new(schema);
        coerce("it", text, document.schema()).ok()
    }

    #[test]
    fn texts_become_what_the_schema_says() {
        let strings = r#"{"type": "array", "items": {"type": "string"}}"#;
        let either = r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#;
        let bounded = r#"{"anyOf": [{"type": "integer", "maximum": 9}, {"type": "string"}]}"#;
        let maybe = r#"{"type": ["integer", "null"]}"#;
        let flag = r#"{"anyOf": [{"type": "boolean"}, {"type": "null"}]}"#;
        let list_or_flag = r#"{"anyOf": [{"items": {"type": "integer"}}, {"type": "boolean"}]}"#;
        let cases = [
            (r#"{"type": "string"}"#, "5", Some(json!("5"))),
            (r#"{"type": "string"}"#, "", Some(json!(""))),
            (r#"{"type": "integer"}"#, "-5", Some(json!(-5))),
            (
                r#"{"type": "integer"}"#,
                "18446744073709551615",
                Some(json!(u64::MAX)),
            ),
            (r#"{"type": "integer"}"#, "5.5", None),
            (r#"{"type": "number"}"#, "5.5", Some(json!(5.5))),
            (r#"{"type": "number"}"#, "5", Some(json!(5))),
            (r#"{"type": "number"}"#, ".5", Some(json!(0.5))),
            (r#"{"type": "number"}"#, "inf", None),
            (r#"{"type": "boolean"}"#, "Yes", Some(json!(true))),
            (r#"{"type": "boolean"}"#, "0", Some(json!(false))),
            (r#"{"type": "boolean"}"#, "maybe", None),
            (r#"{"type": "null"}"#, "null", Some(json!(null))),
            (strings, "a,b", Some(json!(["a,b"]))),
            (strings, r#"["a", "b"]"#, Some(json!(["a", "b"]))),
            (strings, "[a, b]", Some(json!(["a", "b"]))),
            (r#"{"items": {"type": "integer"}}"#, "5", Some(json!([5]))),
            (r#"{"items": {"type": "integer"}}"#, "five", None),
            (r#"{"type": "object"}"#, "{a: 1}", Some(json!({"a": 1}))),
            (r#"{"type": "object"}"#, "a", None),
            (either, "5", Some(json!(5))),
            (either, "five", Some(json!("five"))),
            (bounded, "5", Some(json!(5))),
            (bounded, "12", Some(json!("12"))),
            (maybe, "5", Some(json!(5))),
            (maybe, "null", Some(json!(null))),
            (maybe, "five", None),
            (flag, "yes", Some(json!(true))),
            (list_or_flag, "5", Some(json!([5]))),
            (list_or_flag, "true", Some(json!(true))),
            (list_or_flag, "five", None),
            (
                r#"{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}"#,
                "{a: 1}",
                Some(json!({"a": 1})),
            ),
            (r#"{"enum": ["a", 1, 2.0]}"#, "1", Some(json!(1))),
            (r#"{"enum": ["a", 1, 2.0]}"#, "2", Some(json!(2.0))),
            (r#"{"enum": ["a", "1"]}"#, "1", Some(json!("1"))),
            (r#"{"enum": ["a"]}"#, "b", None),
            ("{}", "5", Some(json!(5))),
            ("{}", "five", Some(json!("five"))),
            ("{}", "[1]", Some(json!([1]))),
            (
                r##"{"$ref": "#/$defs/N", "$defs": {"N": {"type": "integer"}}}"##,
                "5",
                Some(json!(5)),
            ),
        ];
        for (schema, text, expected) in cases {
            assert_eq!(value(schema, text), expected, "{schema} {text}");
        }
    }

    proptest! {
        #[test]
        fn a_string_is_never_changed(text in any::<String>()) {
            prop_assert_eq!(value(r#"{"type": "string"}"#, &text), Some(Value::from(text)));
        }

        #[test]
        fn integers_come_back(number in any::<i64>()) {
            let read = value(r#"{"type": "integer"}"#, &number.to_string());
            prop_assert_eq!(read, Some(Value::from(number)));
        }

        #[test]
        fn numbers_come_back(number in proptest::num::f64::NORMAL) {
            let read = value(r#"{"type": "number"}"#, &Value::from(number).to_string());
            prop_assert_eq!(read.and_then(|read| read.as_f64()), Some(number));
        }

        #[test]
        fn where_texts_are_allowed_every_text_is_taken(text in any::<String>()) {
            for schema in ["{}", r#"{"type": ["integer", "string", "boolean"]}"#] {
                prop_assert!(value(schema, &text).is_some());
            }
        }
    }
}
