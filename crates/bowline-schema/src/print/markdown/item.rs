//! Sentences about a member.

use serde_json::Value;

use super::escape::code;
use crate::{
    print::{
        facts::facts,
        value::{cut, write_json},
    },
    shape::{Shape, Type, TypeKind},
};

/// How long values may be.
const MAX_VALUE: usize = 120;
/// How many examples are shown.
const MAX_EXAMPLES: usize = 3;

/// Returns what is known about the values of a type, in sentences.
pub(super) fn facts_of(shape: &Shape, ty: &Type) -> Vec<String> {
    let mut sentences = Vec::new();
    let facts = facts(ty, |text| code(&cut(text, MAX_VALUE)));
    if !facts.is_empty() {
        sentences.push(sentence(&capitalized(&facts.join(", "))));
    }
    let json = |value: &Value| code(&write_json(value, MAX_VALUE));
    let annotations = &ty.annotations;
    let default = annotations.default.as_ref();
    sentences.extend(default.map(|default| format!("Default: {}.", json(default))));
    let examples = annotations.examples.iter().take(MAX_EXAMPLES).map(json);
    let examples: Vec<String> = examples.collect();
    if !examples.is_empty() {
        sentences.push(format!("Examples: {}.", examples.join(", ")));
    }
    if ty.kind == TypeKind::Any && is_restricted(shape.schema(ty)) {
        sentences.push(format!("Schema: {}.", json(shape.schema(ty))));
    }
    sentences
}

/// Ends a text like a sentence.
pub(super) fn sentence(text: &str) -> String {
    match text.ends_with(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | '`' | '"' | '\'')) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Returns whether a schema says more than annotations do.
fn is_restricted(schema: &Value) -> bool {
    let annotations = ["default", "deprecated", "description", "examples", "title"];
    schema.as_object().is_some_and(|members| {
        let mut keys = members.keys().map(String::as_str);
        keys.any(|key| !annotations.contains(&key) && !key.starts_with('$'))
    })
}
