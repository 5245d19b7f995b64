//! What a schema says about the JSON type, and the values that it lists.

use serde_json::{Map, Value};

use super::{Literal, Type, TypeKind};
use crate::{keyword_value::keyword_value, validate::JsonType};

/// Keywords from which the JSON type can be told where a schema does not state it.
const IMPLIED: [(&str, JsonType); 6] = [
    ("properties", JsonType::Object),
    ("additionalProperties", JsonType::Object),
    ("patternProperties", JsonType::Object),
    ("required", JsonType::Object),
    ("items", JsonType::Array),
    ("prefixItems", JsonType::Array),
];

/// Returns the JSON types of a schema, stated or implied; empty if it has any.
pub(super) fn json_types(members: &Map<String, Value>) -> Vec<JsonType> {
    match keyword_value(members, "type") {
        Some(Value::String(name)) => return JsonType::from_name(name).into_iter().collect(),
        Some(Value::Array(names)) => {
            let parse = |name: &Value| JsonType::from_name(name.as_str()?);
            let types: Option<Vec<_>> = names.iter().map(parse).collect();
            return types.unwrap_or_default();
        }
        Some(_) => return Vec::new(),
        None => {}
    }
    let implied = IMPLIED.iter().filter(|(key, _)| members.contains_key(*key));
    let mut types: Vec<_> = implied.map(|(_, implied)| *implied).collect();
    types.dedup();
    // Keywords about several types mean that either is possible, or a mistake.
    if types.len() > 1 { Vec::new() } else { types }
}

/// Returns the values that a schema lists.
pub(super) fn listed_values(members: &Map<String, Value>) -> Option<&[Value]> {
    match (
        keyword_value(members, "const"),
        keyword_value(members, "enum"),
    ) {
        (Some(value), _) => Some(std::slice::from_ref(value)),
        (None, Some(Value::Array(values))) => Some(values),
        _ => None,
    }
}

/// Returns the type of a schema that lists these values.
pub(super) fn literals(values: &[Value], members: &Map<String, Value>, pointer: &str) -> Type {
    let types = match members.contains_key("type") {
        true => json_types(members),
        false => Vec::new(),
    };
    let is_possible =
        |value: &&Value| types.is_empty() || types.iter().any(|json_type| json_type.matches(value));
    of_values(values.iter().filter(is_possible), pointer)
}

fn of_values<'v>(values: impl Iterator<Item = &'v Value>, pointer: &str) -> Type {
    let (nulls, values): (Vec<_>, Vec<_>) = values.partition(|value| value.is_null());
    let is_nullable = !nulls.is_empty();
    let literals = values.into_iter().map(|value| Literal {
        value: value.clone(),
        title: None,
        description: None,
    });
    let literals: Vec<_> = literals.collect();
    let (kind, is_nullable) = match (literals.is_empty(), is_nullable) {
        (true, true) => (TypeKind::Null, false),
        (true, false) => (TypeKind::Never, false),
        (false, is_nullable) => (TypeKind::Literals(literals), is_nullable),
    };
    Type {
        is_nullable,
        ..Type::new(kind, pointer)
    }
}

impl TypeKind {
    /// Returns whether a value may have this type, looking at its JSON type alone.
    pub(super) fn includes_type_of(&self, value: &Value) -> bool {
        let json_type = match self {
            Self::Any | Self::Union(_) | Self::Reference(_) | Self::Literals(_) => return true,
            Self::Never => return false,
            Self::Null => JsonType::Null,
            Self::Boolean => JsonType::Boolean,
            Self::Integer(_) => JsonType::Integer,
            Self::Number(_) => JsonType::Number,
            Self::String(_) => JsonType::String,
            Self::Array(_) | Self::Tuple(_) => JsonType::Array,
            Self::Object(_) => JsonType::Object,
        };
        json_type.matches(value)
    }
}
