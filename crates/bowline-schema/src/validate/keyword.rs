//! Keywords of schemas, and the messages for values that violate them.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Number, Value};

use super::{
    budget::{string_cost, value_cost},
    display::TruncatedJson,
    equal::{compare, is_integer, is_multiple, json_equal},
    hashed::{EnumValues, all_unique},
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
    /// A schema for the same value.
    Ref(Node),
    /// The outermost of several schemas with the same dynamic anchor, by resource.
    DynamicRef {
        target: Node,
        candidates: Vec<(ResourceId, Node)>,
    },
    AllOf(Vec<Node>),
    AnyOf(Vec<Node>),
    OneOf(Vec<Node>),
    Not(Node, Value),
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
    /// Schemas for the members of an object.
    Properties(Vec<(String, Node)>),
    PatternProperties(Vec<(Pattern, Node)>),
    /// For the members that are neither named nor match a pattern.
    Additional {
        named: BTreeSet<String>,
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
}

/// A keyword that needs no other schema.
#[derive(Clone, Debug)]
pub(super) enum ValueKeyword {
    Never,
    Types(Vec<Type>),
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
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    MinProperties(u64),
    MaxProperties(u64),
    Required(String),
    DependentRequired(String, Vec<String>),
}

/// A JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    /// All types, sorted by name.
    pub(super) const ALL: [Self; 7] = [
        Self::Array,
        Self::Boolean,
        Self::Integer,
        Self::Null,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    /// Parses the name of a type.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the type.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    fn matches(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer, Value::Number(number)) => is_integer(number),
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_))
            | (Self::Array, Value::Array(_))
            | (Self::Object, Value::Object(_)) => true,
            _ => false,
        }
    }
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
            (Self::MinItems(limit), Value::Array(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxItems(limit), Value::Array(it)) => to_u64(it.len()) <= *limit,
            (Self::UniqueItems, Value::Array(it)) => all_unique(it),
            (Self::MinProperties(limit), Value::Object(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxProperties(limit), Value::Object(it)) => to_u64(it.len()) <= *limit,
            (Self::Required(name), Value::Object(it)) => it.contains_key(name),
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
            (Self::DependentRequired(_, others), _) => to_u64(others.len()),
            _ => 0,
        }
    }

    /// Returns the message for a value that violates the keyword.
    pub(super) fn message(&self, value: &Value) -> String {
        let value_text = TruncatedJson(value);
        let s = |limit: &u64| if *limit == 1 { "" } else { "s" };
        let ies = |limit: &u64| if *limit == 1 { "y" } else { "ies" };
        match self {
            Self::Never => format!("False schema does not allow {value_text}"),
            Self::Types(types) => types_message(types, value_text),
            Self::Const(expected) => format!("{} was expected", TruncatedJson(expected)),
            Self::Enum(options) => enum_message(options.values(), value_text),
            Self::Minimum(it) => format!("{value_text} is less than the minimum of {it}"),
            Self::Maximum(it) => format!("{value_text} is greater than the maximum of {it}"),
            Self::ExclusiveMinimum(it) => {
                format!("{value_text} is less than or equal to the minimum of {it}")
            }
            Self::ExclusiveMaximum(it) => {
                format!("{value_text} is greater than or equal to the maximum of {it}")
            }
            Self::MultipleOf(it) => format!("{value_text} is not a multiple of {it}"),
            Self::MinLength(it) => format!("{value_text} is shorter than {it} character{}", s(it)),
            Self::MaxLength(it) => format!("{value_text} is longer than {it} character{}", s(it)),
            Self::Pattern(it) => format!("{value_text} does not match \"{}\"", it.as_str()),
            Self::MinItems(it) => format!("{value_text} has less than {it} item{}", s(it)),
            Self::MaxItems(it) => format!("{value_text} has more than {it} item{}", s(it)),
            Self::UniqueItems => format!("{value_text} has non-unique elements"),
            Self::MinProperties(it) => {
                format!("{value_text} has less than {it} propert{}", ies(it))
            }
            Self::MaxProperties(it) => {
                format!("{value_text} has more than {it} propert{}", ies(it))
            }
            Self::Required(name) => required_message(name),
            Self::DependentRequired(_, others) => {
                let missing = others.iter().find(|other| value.get(other).is_none());
                missing
                    .map(|name| required_message(name))
                    .unwrap_or_default()
            }
        }
    }
}

/// Converts a length for comparison with limits.
pub(super) fn to_u64(length: usize) -> u64 {
    length as u64
}

fn required_message(name: &str) -> String {
    format!(
        "{} is a required property",
        TruncatedJson(&Value::from(name))
    )
}

fn types_message(types: &[Type], value: TruncatedJson<'_>) -> String {
    let names: Vec<String> = types
        .iter()
        .map(|kind| format!("\"{}\"", kind.name()))
        .collect();
    let s = if names.len() == 1 { "" } else { "s" };
    format!("{value} is not of type{s} {}", names.join(", "))
}

/// Lists only the first options if there are many.
fn enum_message(options: &[Value], value: TruncatedJson<'_>) -> String {
    const MAX_LISTED: usize = 3;
    let listed = if options.len() <= MAX_LISTED {
        options.len()
    } else {
        MAX_LISTED - 1
    };
    let mut text = format!("{value} is not one of ");
    for (at, option) in options[..listed].iter().enumerate() {
        let separator = match at {
            0 => "",
            _ if at + 1 == options.len() => " or ",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{}", TruncatedJson(option));
    }
    if listed < options.len() {
        let _ = write!(text, " or {} other candidates", options.len() - listed);
    }
    text
}
