//! What schemas demand, and how it is said that a value does not meet it.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Number, Value};

use super::{
    budget::{text_weight, weight},
    equal::{compare, is_integer, is_multiple, same},
    key::{Options, all_differ},
    pattern::Pattern,
    shown::Shown,
};

/// The place of a schema among all of its document.
pub(super) type Node = usize;

/// One demand.
#[derive(Clone, Debug)]
pub(super) enum Keyword {
    /// A demand on the value itself.
    Own(Own),
    /// Another schema, for the same value.
    Ref(Node),
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
    /// Other schemas, for the items of an array.
    PrefixItems(Vec<Node>),
    /// For those from this index on.
    Items(usize, Node),
    Contains {
        node: Node,
        least: u64,
        most: Option<u64>,
    },
    /// Other schemas, for the members of an object.
    Properties(Vec<(String, Node)>),
    PatternProperties(Vec<(Pattern, Node)>),
    /// For those that are neither named nor match.
    Additional {
        named: BTreeSet<String>,
        patterns: Vec<Pattern>,
        node: Node,
    },
    PropertyNames(Node),
    /// For those that nothing else within a schema has looked at.
    Unevaluated {
        within: Node,
        node: Node,
    },
}

/// A demand that needs no other schema.
#[derive(Clone, Debug)]
pub(super) enum Own {
    Never,
    Types(Vec<Type>),
    Const(Value),
    Enum(Options),
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

/// A kind of value.
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
    /// All of them, in the order of their names.
    pub(super) const ALL: [Self; 7] = [
        Self::Array,
        Self::Boolean,
        Self::Integer,
        Self::Null,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    /// Reads a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name.
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

    fn has(self, value: &Value) -> bool {
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

impl Own {
    /// Whether a value meets it. Values of other kinds than it speaks of do.
    pub(super) fn is_met(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Never, _) => false,
            (Self::Types(types), _) => types.iter().any(|kind| kind.has(value)),
            (Self::Const(expected), _) => same(value, expected),
            (Self::Enum(options), _) => options.contains(value),
            (Self::Minimum(limit), Value::Number(it)) => compare(it, limit).is_ge(),
            (Self::Maximum(limit), Value::Number(it)) => compare(it, limit).is_le(),
            (Self::ExclusiveMinimum(limit), Value::Number(it)) => compare(it, limit).is_gt(),
            (Self::ExclusiveMaximum(limit), Value::Number(it)) => compare(it, limit).is_lt(),
            (Self::MultipleOf(of), Value::Number(it)) => is_multiple(it, of),
            (Self::MinLength(limit), Value::String(it)) => count(it.chars().count()) >= *limit,
            (Self::MaxLength(limit), Value::String(it)) => count(it.chars().count()) <= *limit,
            (Self::Pattern(pattern), Value::String(it)) => pattern.is_match(it),
            (Self::MinItems(limit), Value::Array(it)) => count(it.len()) >= *limit,
            (Self::MaxItems(limit), Value::Array(it)) => count(it.len()) <= *limit,
            (Self::UniqueItems, Value::Array(it)) => all_differ(it),
            (Self::MinProperties(limit), Value::Object(it)) => count(it.len()) >= *limit,
            (Self::MaxProperties(limit), Value::Object(it)) => count(it.len()) <= *limit,
            (Self::Required(name), Value::Object(it)) => it.contains_key(name),
            (Self::DependentRequired(name, others), Value::Object(it)) => {
                !it.contains_key(name) || others.iter().all(|other| it.contains_key(other))
            }
            _ => true,
        }
    }

    /// How many steps it takes to know whether a value meets it, beyond one.
    pub(super) fn cost(&self, value: &Value) -> u64 {
        match (self, value) {
            (Self::Const(expected), _) => weight(expected),
            (Self::Enum(_), _) => weight(value),
            (Self::UniqueItems, Value::Array(_)) => 2 * weight(value),
            (Self::MinLength(_) | Self::MaxLength(_), Value::String(it)) => text_weight(it),
            (Self::Pattern(pattern), Value::String(it)) => pattern.cost(it),
            (Self::DependentRequired(_, others), _) => count(others.len()),
            _ => 0,
        }
    }

    /// How it is said that a value does not meet it.
    pub(super) fn complaint(&self, value: &Value) -> String {
        let shown = Shown(value);
        let s = |limit: &u64| if *limit == 1 { "" } else { "s" };
        let ies = |limit: &u64| if *limit == 1 { "y" } else { "ies" };
        match self {
            Self::Never => format!("False schema does not allow {shown}"),
            Self::Types(types) => types_complaint(types, shown),
            Self::Const(expected) => format!("{} was expected", Shown(expected)),
            Self::Enum(options) => enum_complaint(options.values(), shown),
            Self::Minimum(it) => format!("{shown} is less than the minimum of {it}"),
            Self::Maximum(it) => format!("{shown} is greater than the maximum of {it}"),
            Self::ExclusiveMinimum(it) => {
                format!("{shown} is less than or equal to the minimum of {it}")
            }
            Self::ExclusiveMaximum(it) => {
                format!("{shown} is greater than or equal to the maximum of {it}")
            }
            Self::MultipleOf(it) => format!("{shown} is not a multiple of {it}"),
            Self::MinLength(it) => format!("{shown} is shorter than {it} character{}", s(it)),
            Self::MaxLength(it) => format!("{shown} is longer than {it} character{}", s(it)),
            Self::Pattern(it) => format!("{shown} does not match \"{}\"", it.as_str()),
            Self::MinItems(it) => format!("{shown} has less than {it} item{}", s(it)),
            Self::MaxItems(it) => format!("{shown} has more than {it} item{}", s(it)),
            Self::UniqueItems => format!("{shown} has non-unique elements"),
            Self::MinProperties(it) => format!("{shown} has less than {it} propert{}", ies(it)),
            Self::MaxProperties(it) => format!("{shown} has more than {it} propert{}", ies(it)),
            Self::Required(name) => required(name),
            Self::DependentRequired(_, others) => {
                let missing = others.iter().find(|other| value.get(other).is_none());
                missing.map(|name| required(name)).unwrap_or_default()
            }
        }
    }
}

/// How many there are, as limits count.
pub(super) fn count(length: usize) -> u64 {
    length as u64
}

fn required(name: &str) -> String {
    format!("{} is a required property", Shown(&Value::from(name)))
}

fn types_complaint(types: &[Type], value: Shown<'_>) -> String {
    let names: Vec<String> = types
        .iter()
        .map(|kind| format!("\"{}\"", kind.name()))
        .collect();
    let s = if names.len() == 1 { "" } else { "s" };
    format!("{value} is not of type{s} {}", names.join(", "))
}

/// Names the first options only, where there are many.
fn enum_complaint(options: &[Value], value: Shown<'_>) -> String {
    const MOST: usize = 3;
    let shown = if options.len() <= MOST {
        options.len()
    } else {
        MOST - 1
    };
    let mut text = format!("{value} is not one of ");
    for (at, option) in options[..shown].iter().enumerate() {
        let before = match at {
            0 => "",
            _ if at + 1 == options.len() => " or ",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{}", Shown(option));
    }
    if shown < options.len() {
        let _ = write!(text, " or {} other candidates", options.len() - shown);
    }
    text
}
