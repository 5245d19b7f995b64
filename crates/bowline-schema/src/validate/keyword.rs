//! Keywords of schemas, and which values satisfy those that need no other schema.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Number, Value};

use super::{
    budget::{string_cost, value_cost},
    equal::{compare, is_multiple, json_equal},
    format::Format,
    hashed::{EnumValues, first_repeated},
    json_type::JsonType,
    pattern::Pattern,
    resources::ResourceId,
};

/// The index of a schema in its document.
pub(super) type Node = usize;

/// A keyword of a schema.
#[derive(Clone, Debug)]
pub(super) enum Keyword {
    /// A keyword about the value itself.
    Value(ValueKeyword),
    /// The first of all schemas for the same value, if options change what is valid.
    Whole(WholeKeyword),
    /// A schema for the same value.
    Ref(Node),
    /// The outermost of several schemas with the same dynamic anchor, by resource.
    DynamicRef {
        target: Node,
        candidates: Arc<HashMap<ResourceId, Node>>,
    },
    AllOf(Vec<Node>),
    AnyOf(Vec<Node>),
    OneOf(Vec<Node>),
    /// Alternatives under options that change what is valid.
    OneOfWithOptions {
        nodes: Vec<Node>,
        /// The same alternatives without the options.
        exact: Vec<Node>,
    },
    /// A schema that the value must not match, and the schema as JSON, truncated.
    Not(Node, String),
    If {
        condition: Node,
        then: Option<Node>,
        otherwise: Option<Node>,
    },
    DependentSchemas(Vec<(String, Node)>),
    /// Schemas for the items of an array.
    PrefixItems(Vec<Node>),
    /// For the items from this index on.
    Items(usize, Node),
    Contains {
        node: Node,
        min: u64,
        max: Option<u64>,
    },
    /// A member that must be there.
    Required(RequiredKeyword),
    /// Schemas for the members of an object.
    Properties(Vec<(String, Node)>),
    PatternProperties(Vec<(Pattern, Node)>),
    /// For the members that are neither named nor match a pattern.
    Additional {
        /// Sorted.
        named: Vec<String>,
        patterns: Vec<Pattern>,
        node: Node,
    },
    PropertyNames(Node),
    /// For the items that nothing else in a schema has evaluated.
    UnevaluatedItems {
        parent: Node,
        node: Node,
    },
    /// For the members that nothing else in a schema has evaluated.
    UnevaluatedProperties {
        parent: Node,
        node: Node,
    },
    /// The schema has a `default`. Only compiled if that matters.
    Default,
}

/// The first of all schemas for the same value.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeKeyword {
    /// The keywords of the schema.
    pub(super) part: Node,
    /// Whether members must be declared by one of the schemas.
    pub(super) rejects_undeclared: bool,
}

/// A member that must be there.
#[derive(Clone, Debug)]
pub(super) struct RequiredKeyword {
    pub(super) name: String,
    /// The schema of the member, if it is declared beside the keyword.
    pub(super) member: Option<Node>,
    /// The schema of the keyword, if the member may be absent where it has a default.
    pub(super) unless_default_in: Option<Node>,
}

/// A keyword that needs no other schema.
#[derive(Clone, Debug)]
pub(super) enum ValueKeyword {
    Never,
    Types(Vec<JsonType>),
    Const(Value),
    Enum(EnumValues),
    Minimum(Number),
    Maximum(Number),
    ExclusiveMinimum(Number),
    ExclusiveMaximum(Number),
    MultipleOf(Number),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Format(Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    MinProperties(u64),
    MaxProperties(u64),
    DependentRequired(String, Vec<String>),
}

impl ValueKeyword {
    /// Returns whether a value satisfies the keyword. Values of types it does
    /// not apply to do.
    pub(super) fn is_met(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Never, _) => false,
            (Self::Types(types), _) => types.iter().any(|kind| kind.matches(value)),
            (Self::Const(expected), _) => json_equal(value, expected),
            (Self::Enum(options), _) => options.contains(value),
            (Self::Minimum(limit), Value::Number(it)) => compare(it, limit).is_ge(),
            (Self::Maximum(limit), Value::Number(it)) => compare(it, limit).is_le(),
            (Self::ExclusiveMinimum(limit), Value::Number(it)) => compare(it, limit).is_gt(),
            (Self::ExclusiveMaximum(limit), Value::Number(it)) => compare(it, limit).is_lt(),
            (Self::MultipleOf(divisor), Value::Number(it)) => is_multiple(it, divisor),
            (Self::MinLength(limit), Value::String(it)) => to_u64(it.chars().count()) >= *limit,
            (Self::MaxLength(limit), Value::String(it)) => to_u64(it.chars().count()) <= *limit,
            (Self::Pattern(pattern), Value::String(it)) => pattern.is_match(it),
            (Self::Format(format), Value::String(it)) => format.is_match(it),
            (Self::MinItems(limit), Value::Array(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxItems(limit), Value::Array(it)) => to_u64(it.len()) <= *limit,
            (Self::UniqueItems, Value::Array(it)) => first_repeated(it).is_none(),
            (Self::MinProperties(limit), Value::Object(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxProperties(limit), Value::Object(it)) => to_u64(it.len()) <= *limit,
            (Self::DependentRequired(name, others), Value::Object(it)) => {
                !it.contains_key(name) || others.iter().all(|other| it.contains_key(other))
            }
            _ => true,
        }
    }

    /// Returns the number of steps to check a value, beyond one.
    pub(super) fn cost(&self, value: &Value) -> u64 {
        match (self, value) {
            (Self::Const(expected), _) => value_cost(expected),
            (Self::Enum(_), _) => value_cost(value),
            (Self::UniqueItems, Value::Array(_)) => 2 * value_cost(value),
            (Self::MinLength(_) | Self::MaxLength(_), Value::String(it)) => string_cost(it),
            (Self::Pattern(pattern), Value::String(it)) => pattern.cost(it),
            (Self::Format(_), Value::String(it)) => to_u64(it.len()),
            (Self::DependentRequired(_, others), _) => to_u64(others.len()),
            _ => 0,
        }
    }
}

/// Converts a length for comparison with limits.
pub(super) fn to_u64(length: usize) -> u64 {
    length as u64
}
