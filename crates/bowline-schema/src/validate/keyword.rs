//! Keywords of schemas, and which values satisfy those that need no other schema.

use std::{cmp::Ordering, collections::HashMap, sync::Arc};

use serde_json::{Map, Number, Value};

use super::{
    budget::{CheckBudget, string_cost, value_cost},
    equal::{compare, is_multiple, json_equal},
    format::Format,
    hashed::{EnumValues, first_repeated},
    json_type::Types,
    member_table::MemberTable,
    pattern::Pattern,
    resources::ResourceId,
};

/// The index of a schema in its document.
pub(super) type Node = usize;

/// A schema.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    pub(super) types: Types,
    /// The keywords that need no other schema, but for the types.
    pub(super) values: Vec<ValueKeyword>,
    /// What members there are, must be and may be.
    pub(super) members: Option<Box<MemberTable>>,
    /// The other keywords.
    pub(super) keywords: Vec<Keyword>,
    /// Whether there is a `default`, if that matters.
    pub(super) has_default: bool,
    /// Whether the schema looks at values only, and not at what is in them.
    pub(super) is_leaf: bool,
    /// The number of steps to look at each keyword once.
    pub(super) steps: u64,
}

impl Schema {
    /// Returns a schema for all values.
    pub(super) fn any() -> Self {
        Self {
            types: Types::ANY,
            values: Vec::new(),
            members: None,
            keywords: Vec::new(),
            has_default: false,
            is_leaf: true,
            steps: 1,
        }
    }

    /// Returns a schema for no value.
    pub(super) fn never() -> Self {
        Self {
            values: vec![ValueKeyword::Never],
            steps: 2,
            ..Self::any()
        }
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self.values[..], [ValueKeyword::Never])
    }
}

/// A keyword that applies other schemas.
#[derive(Clone, Debug)]
pub(super) enum Keyword {
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

impl Keyword {
    /// Returns the schemas of `anyOf` or `oneOf`.
    pub(super) fn alternatives(&self) -> &[Node] {
        match self {
            Self::AnyOf(nodes) | Self::OneOf(nodes) | Self::OneOfWithOptions { nodes, .. } => nodes,
            _ => &[],
        }
    }
}

/// The first of all schemas for the same value.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeKeyword {
    /// The keywords of the schema.
    pub(super) part: Node,
    /// Whether members must be declared by one of the schemas.
    pub(super) rejects_undeclared: bool,
}

/// A keyword that needs no other schema.
#[derive(Clone, Debug)]
pub(super) enum ValueKeyword {
    Never,
    Const(Value),
    Enum(Box<EnumValues>),
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
    /// Returns whether a value satisfies the keyword, and there are enough steps to
    /// find out. Values of types it does not apply to do.
    ///
    /// What needs more than a few instructions is in functions of its own, so that this
    /// one has no registers to save.
    #[inline(never)]
    pub(super) fn is_met(&self, value: &Value, budget: &CheckBudget) -> bool {
        match (self, value) {
            (Self::Never, _) => false,
            (Self::Const(expected), _) => is_constant(value, expected, budget),
            (Self::Enum(options), _) => is_option(value, options, budget),
            (Self::Minimum(limit), Value::Number(it)) => compares(it, limit, Ordering::is_ge),
            (Self::Maximum(limit), Value::Number(it)) => compares(it, limit, Ordering::is_le),
            (Self::ExclusiveMinimum(limit), Value::Number(it)) => {
                compares(it, limit, Ordering::is_gt)
            }
            (Self::ExclusiveMaximum(limit), Value::Number(it)) => {
                compares(it, limit, Ordering::is_lt)
            }
            (Self::MultipleOf(divisor), Value::Number(it)) => is_multiple(it, divisor),
            (Self::MinLength(limit), Value::String(it)) => has_min_length(it, *limit, budget),
            (Self::MaxLength(limit), Value::String(it)) => has_max_length(it, *limit, budget),
            (Self::Pattern(pattern), Value::String(it)) => pattern.is_match_within(it, budget),
            (Self::Format(format), Value::String(it)) => has_format(it, *format, budget),
            (Self::MinItems(limit), Value::Array(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxItems(limit), Value::Array(it)) => to_u64(it.len()) <= *limit,
            (Self::UniqueItems, Value::Array(it)) => is_unique(value, it, budget),
            (Self::MinProperties(limit), Value::Object(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxProperties(limit), Value::Object(it)) => to_u64(it.len()) <= *limit,
            (Self::DependentRequired(name, others), Value::Object(it)) => {
                has_dependent(it, name, others, budget)
            }
            _ => true,
        }
    }
}

#[inline(never)]
fn is_constant(value: &Value, expected: &Value, budget: &CheckBudget) -> bool {
    budget.spend(value_cost(expected)) && json_equal(value, expected)
}

#[inline(never)]
fn is_option(value: &Value, options: &EnumValues, budget: &CheckBudget) -> bool {
    budget.spend(value_cost(value)) && options.contains(value)
}

#[inline(never)]
fn compares(number: &Number, limit: &Number, is_met: impl Fn(Ordering) -> bool) -> bool {
    is_met(compare(number, limit))
}

#[inline(never)]
fn has_min_length(text: &str, limit: u64, budget: &CheckBudget) -> bool {
    // A character has one to four bytes, so they are seldom counted.
    let bytes = to_u64(text.len());
    budget.spend(string_cost(text))
        && (bytes / 4 >= limit || bytes >= limit && to_u64(text.chars().count()) >= limit)
}

#[inline(never)]
fn has_max_length(text: &str, limit: u64, budget: &CheckBudget) -> bool {
    let bytes = to_u64(text.len());
    budget.spend(string_cost(text))
        && (bytes <= limit || bytes / 4 <= limit && to_u64(text.chars().count()) <= limit)
}

#[inline(never)]
fn has_format(text: &str, format: Format, budget: &CheckBudget) -> bool {
    budget.spend(to_u64(text.len())) && format.is_match(text)
}

#[inline(never)]
fn is_unique(value: &Value, items: &[Value], budget: &CheckBudget) -> bool {
    budget.spend(2 * value_cost(value)) && first_repeated(items).is_none()
}

#[inline(never)]
fn has_dependent(
    members: &Map<String, Value>,
    name: &String,
    others: &[String],
    budget: &CheckBudget,
) -> bool {
    let has = |name: &String| members.contains_key(name);
    budget.spend(to_u64(others.len())) && (!has(name) || others.iter().all(has))
}

/// Converts a length for comparison with limits.
pub(super) fn to_u64(length: usize) -> u64 {
    length as u64
}
