//! Converting strings to values, by a type.

use std::cell::Cell;

use bowline_schema::{
    print::signature::json_expression,
    shape::{Literal, Shape, Type, TypeKind},
};
use serde_json::{Number, Value};

use super::{
    loose_json,
    problem::{ArgumentProblem, expected_type},
};

/// A kind of JSON value, in the order in which a string is tried: strictest
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

/// Maximum nesting of lists around a single item.
const MAX_DEPTH: usize = 8;
/// Maximum number of types tried: alternatives within lists multiply.
const MAX_STEPS: usize = 1_000;

/// Converts a string to a value. If the type allows any value, valid JSON is
/// parsed and everything else is a string.
pub(super) fn coerce(
    path: &str,
    text: &str,
    shape: &Shape,
    ty: &Type,
) -> Result<Value, ArgumentProblem> {
    let coercion = Coercion {
        path,
        text,
        shape,
        remaining: Cell::new(MAX_STEPS),
    };
    coercion.to_type(ty, MAX_DEPTH)
}

/// Converts a string without a schema: valid JSON is parsed.
pub(super) fn parse_untyped(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Parses a bracketed list.
pub(super) fn parse_array(text: &str) -> Option<Value> {
    parse_if_prefixed(text, '[')
}

/// Returns all types of lists that a type allows.
pub(super) fn list_types<'a>(shape: &'a Shape, ty: &'a Type) -> Vec<&'a Type> {
    let types = shape.variants(ty).types.into_iter();
    let types = types.map(|ty| shape.resolve(ty));
    let is_list = |ty: &&Type| matches!(ty.kind, TypeKind::Array(_) | TypeKind::Tuple(_));
    types.filter(|ty| is_list(ty) || is_unknown(ty)).collect()
}

/// Returns the type of an item of a list.
pub(super) fn item_type(list: &Type, index: usize) -> Option<&Type> {
    match &list.kind {
        TypeKind::Array(array) => Some(&array.items),
        TypeKind::Tuple(tuple) => tuple.items.get(index).or(tuple.rest.as_deref()),
        _ => None,
    }
}

/// A string that is converted to a value.
struct Coercion<'a> {
    path: &'a str,
    text: &'a str,
    shape: &'a Shape,
    /// Remaining steps.
    remaining: Cell<usize>,
}

impl Coercion<'_> {
    fn to_type(&self, ty: &Type, depth: usize) -> Result<Value, ArgumentProblem> {
        let remaining = self.remaining.get().checked_sub(1);
        self.remaining.set(remaining.unwrap_or_default());
        let depth = depth.checked_sub(1).filter(|_| remaining.is_some());
        let depth = depth.ok_or_else(|| self.invalid(ty))?;
        let variants = self.shape.variants(ty);
        let types = variants.types.iter().map(|ty| self.shape.resolve(ty));
        let types: Vec<&Type> = types.collect();
        let is_null = variants.is_nullable && self.text == "null";
        if let [only] = types[..]
            && let TypeKind::Literals(literals) = &only.kind
        {
            let null = is_null.then_some(Value::Null);
            let found = find_literal(literals, self.text).or(null);
            return found.ok_or_else(|| self.invalid_choice(ty, literals));
        }
        if is_null {
            return Ok(Value::Null);
        }
        if types.iter().any(is_unknown) || (types.is_empty() && !variants.is_nullable) {
            return Ok(parse_untyped(self.text));
        }
        let mut candidates: Vec<_> = types.iter().flat_map(|ty| kinds_of(ty)).collect();
        candidates.sort_by_key(|(kind, _)| *kind);
        let found = match candidates[..] {
            [(kind, only)] => self.to_kind(kind, only, depth)?,
            _ => {
                let fitting = self.first_fitting(&candidates);
                fitting.or_else(|| self.single_item(&candidates, depth))
            }
        };
        match found {
            Some(value) => Ok(value),
            // An alternative that is not listed may accept it.
            None if !variants.is_complete => Ok(parse_untyped(self.text)),
            None => Err(self.invalid(ty)),
        }
    }

    /// Returns the first interpretation that fits; if there is none, the first
    /// one, for which the check then reports a problem.
    fn first_fitting(&self, candidates: &[(Kind, &Type)]) -> Option<Value> {
        let mut first = None;
        for (kind, ty) in candidates {
            match coerce_strict(*kind, self.text) {
                Some(value) if self.shape.fits(ty, &value) => return Some(value),
                Some(value) => drop(first.get_or_insert(value)),
                None => {}
            }
        }
        first
    }

    /// Returns a list of one item, if nothing else can be meant.
    fn single_item(&self, candidates: &[(Kind, &Type)], depth: usize) -> Option<Value> {
        let mut lists = candidates.iter().filter(|(kind, _)| *kind == Kind::Array);
        lists.find_map(|(kind, list)| self.to_kind(*kind, list, depth).ok()?)
    }

    /// Converts to the only allowed kind. `None` if the string is not valid for
    /// it.
    fn to_kind(
        &self,
        kind: Kind,
        ty: &Type,
        depth: usize,
    ) -> Result<Option<Value>, ArgumentProblem> {
        Ok(match kind {
            Kind::Boolean => match self.text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true.into()),
                "false" | "no" | "0" => Some(false.into()),
                _ => None,
            },
            Kind::Array => match parse_array(self.text) {
                Some(list) => Some(list),
                // An item may be a list itself.
                None => {
                    let item = match item_type(ty, 0) {
                        Some(item) => self.to_type(item, depth)?,
                        None => parse_untyped(self.text),
                    };
                    Some(Value::Array(vec![item]))
                }
            },
            other => coerce_strict(other, self.text),
        })
    }

    fn invalid(&self, ty: &Type) -> ArgumentProblem {
        let expected = expected_type(self.shape, [ty]);
        ArgumentProblem::invalid(self.path, expected, &self.text.into())
    }

    fn invalid_choice(&self, ty: &Type, literals: &[Literal]) -> ArgumentProblem {
        let choices = literals.iter().map(|literal| choice_string(&literal.value));
        self.invalid(ty).with_choices(choices)
    }
}

/// Returns whether nothing is known of a type: any value, or a reference that
/// only leads to itself.
fn is_unknown(ty: &&Type) -> bool {
    matches!(ty.kind, TypeKind::Any | TypeKind::Reference(_))
}

/// Returns the kinds of values that a type has, which is not a union.
fn kinds_of(ty: &Type) -> Vec<(Kind, &Type)> {
    let kind = match &ty.kind {
        TypeKind::Null => Kind::Null,
        TypeKind::Boolean => Kind::Boolean,
        TypeKind::Integer(_) => Kind::Integer,
        TypeKind::Number(_) => Kind::Number,
        TypeKind::String(_) => Kind::String,
        TypeKind::Array(_) | TypeKind::Tuple(_) => Kind::Array,
        TypeKind::Object(_) => Kind::Object,
        TypeKind::Literals(literals) => {
            let kinds = literals.iter().map(|literal| kind_of(&literal.value));
            let mut kinds: Vec<_> = kinds.collect();
            kinds.sort();
            kinds.dedup();
            return kinds.into_iter().map(|kind| (kind, ty)).collect();
        }
        _ => return Vec::new(),
    };
    vec![(kind, ty)]
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_f64() => Kind::Number,
        Value::Number(_) => Kind::Integer,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}

/// Returns the literal that was typed: as its string, or as its JSON.
fn find_literal(literals: &[Literal], text: &str) -> Option<Value> {
    let is_typed = |value: &&Value| match value {
        Value::String(choice) => choice == text,
        other => json_expression(other) == text || same_number(other, text),
    };
    let mut values = literals.iter().map(|literal| &literal.value);
    values.find(is_typed).cloned()
}

fn same_number(choice: &Value, text: &str) -> bool {
    choice
        .as_f64()
        .is_some_and(|number| text.parse() == Ok(number))
}

/// Formats a choice as it is typed.
fn choice_string(choice: &Value) -> String {
    match choice {
        Value::String(text) => text.clone(),
        other => json_expression(other),
    }
}

/// Converts to one of several kinds, if the string is hardly anything else.
fn coerce_strict(kind: Kind, text: &str) -> Option<Value> {
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
    use bowline_schema::shape::Shape;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::coerce;

    fn value(schema: &str, text: &str) -> Option<Value> {
        let shape = Shape::new(serde_json::from_str(schema).expect("it is JSON"));
        coerce("it", text, &shape, shape.root()).ok()
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
            (r#"{"enum": ["a", null]}"#, "null", Some(json!(null))),
            (
                r#"{"anyOf": [{"enum": ["a", 1]}, {"type": "boolean"}]}"#,
                "1",
                Some(json!(1)),
            ),
            (
                r#"{"prefixItems": [{"type": "string"}, {"type": "integer"}]}"#,
                "5",
                Some(json!(["5"])),
            ),
            (r##"{"items": {"$ref": "#"}}"##, "5", None),
            (r##"{"$ref": "#"}"##, "5", Some(json!(5))),
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
