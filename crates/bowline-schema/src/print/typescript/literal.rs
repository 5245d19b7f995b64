//! Values as types, and strings as TypeScript writes them.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use super::{layout::Doc, names::member_name, style::Style};
use crate::{print::hidden::is_hidden, shape::Literal};

/// How deep values are spelled out.
const MAX_DEPTH: usize = 8;
/// How many items or members of a value are spelled out.
const MAX_MEMBERS: usize = 64;
/// How many characters of a string are spelled out as a type.
const MAX_STRING: usize = 1_000;

/// Returns the types of values, in their order. Those that are not spelled out are
/// included in a wider type at the end.
pub(super) fn variants(literals: &[Literal], style: Style) -> Vec<Doc> {
    let max = style.max_literals();
    let (listed, others) = literals.split_at(literals.len().min(max));
    let mut variants: Vec<Doc> = Vec::new();
    let is_listed = |wanted: bool| listed.iter().any(|literal| literal.value == wanted);
    let has_both = is_listed(true) && is_listed(false);
    let mut has_boolean = false;
    for literal in listed {
        match &literal.value {
            Value::Bool(_) if has_both && has_boolean => {}
            Value::Bool(_) if has_both => {
                has_boolean = true;
                variants.push(Doc::text("boolean"));
            }
            value => variants.push(value_type(value, style, MAX_DEPTH)),
        }
    }
    let mut wider: Vec<&str> = others.iter().map(|literal| base(&literal.value)).collect();
    wider.sort_unstable();
    wider.dedup();
    if let [first, ..] = &wider[..] {
        let first = style.remark(first, &format!("{} more", others.len()));
        variants.push(Doc::text(first));
        variants.extend(wider[1..].iter().map(|name| Doc::text(*name)));
    }
    variants
}

/// Writes a string in quotes: double ones, or those that need fewer escapes.
///
/// ```
/// use bowline_schema::print::typescript::quote;
///
/// assert_eq!(quote("it's"), "\"it's\"");
/// assert_eq!(quote("a \"b\"\u{202e}"), "'a \"b\"\\u202e'");
/// ```
#[must_use]
pub fn quote(text: &str) -> String {
    let count = |quote: char| text.chars().filter(|c| *c == quote).count();
    let mark = if count('"') > count('\'') { '\'' } else { '"' };
    let mut quoted = String::from(mark);
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' => quoted.push_str("\\\\"),
            c if c == mark => quoted.extend(['\\', c]),
            c if is_hidden(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push(mark);
    quoted
}

fn value_type(value: &Value, style: Style, depth: usize) -> Doc {
    let inner = depth.checked_sub(1);
    match (value, inner) {
        (Value::Null, _) => Doc::text("null"),
        (Value::Bool(value), _) => Doc::text(value.to_string()),
        (Value::Number(number), _) => Doc::text(number_type(number)),
        (Value::String(text), _) if text.len() <= MAX_STRING => Doc::text(quote(text)),
        (Value::Array(items), Some(depth)) if items.len() <= MAX_MEMBERS => {
            let items = items.iter();
            style.tuple(items.map(|item| value_type(item, style, depth)).collect())
        }
        (Value::Object(members), Some(depth))
            if !members.is_empty() && members.len() <= MAX_MEMBERS =>
        {
            let members = members.iter().map(|(name, member)| {
                let ty = value_type(member, style, depth);
                style.member(&member_name(name), false, ty)
            });
            style.object(members.collect())
        }
        (other, _) => Doc::text(base(other)),
    }
}

/// Returns the type that includes all values of the same JSON type.
fn base(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "unknown[]",
        Value::Object(_) => "Record<string, unknown>",
    }
}

fn number_type(number: &Number) -> String {
    match number.as_f64() {
        // `1.0` is `1`, and looks better.
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
            format!("{float:.0}")
        }
        Some(_) => number.to_string(),
        None => "number".to_owned(),
    }
}
