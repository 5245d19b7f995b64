//! Keywords of schemas, and which values satisfy those that need no other schema.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Number, Value};

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
    /// The other keywords.
    pub(super) keywords: Vec<Keyword>,
    /// The number of steps to look at each of them once.
    pub(super) steps: u64,
}

impl Schema {
    pub(super) fn new(types: Option<Types>, keywords: Vec<Keyword>) -> Self {
        let count = keywords.iter().map(Keyword::count).sum::<usize>();
        Self {
            types: types.unwrap_or(Types::ANY),
            steps: to_u64(1 + usize::from(types.is_some()) + count),
            keywords,
        }
    }

    /// Returns a schema for no value.
    pub(super) fn never() -> Self {
        Self::new(None, vec![Keyword::Value(ValueKeyword::Never)])
    }
}

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
    /// What members there are, must be and may be.
    Members(Box<MemberTable>),
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

impl Keyword {
    /// Returns how many keywords of the draft, or names in one, this stands for.
    fn count(&self) -> usize {
        match self {
            Self::Members(table) => table.required.len() + 3,
            _ => 1,
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
    #[inline]
    pub(super) fn is_met(&self, value: &Value, budget: &CheckBudget) -> bool {
        match (self, value) {
            (Self::Never, _) => false,
            (Self::Const(expected), _) => {
                budget.spend(value_cost(expected)) && json_equal(value, expected)
            }
            (Self::Enum(options), _) => budget.spend(value_cost(value)) && options.contains(value),
            (Self::Minimum(limit), Value::Number(it)) => compare(it, limit).is_ge(),
            (Self::Maximum(limit), Value::Number(it)) => compare(it, limit).is_le(),
            (Self::ExclusiveMinimum(limit), Value::Number(it)) => compare(it, limit).is_gt(),
            (Self::ExclusiveMaximum(limit), Value::Number(it)) => compare(it, limit).is_lt(),
            (Self::MultipleOf(divisor), Value::Number(it)) => is_multiple(it, divisor),
            (Self::MinLength(limit), Value::String(it)) => {
                budget.spend(string_cost(it)) && !is_shorter(it, *limit)
            }
            (Self::MaxLength(limit), Value::String(it)) => {
                budget.spend(string_cost(it)) && !is_longer(it, *limit)
            }
            (Self::Pattern(pattern), Value::String(it)) => {
                budget.spend(pattern.cost(it)) && pattern.is_match(it)
            }
            (Self::Format(format), Value::String(it)) => {
                budget.spend(to_u64(it.len())) && format.is_match(it)
            }
            (Self::MinItems(limit), Value::Array(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxItems(limit), Value::Array(it)) => to_u64(it.len()) <= *limit,
            (Self::UniqueItems, Value::Array(it)) => {
                budget.spend(2 * value_cost(value)) && first_repeated(it).is_none()
            }
            (Self::MinProperties(limit), Value::Object(it)) => to_u64(it.len()) >= *limit,
            (Self::MaxProperties(limit), Value::Object(it)) => to_u64(it.len()) <= *limit,
            (Self::DependentRequired(name, others), Value::Object(it)) => {
                let has = |name: &String| it.contains_key(name);
                budget.spend(to_u64(others.len())) && (!has(name) || others.iter().all(has))
            }
            _ => true,
        }
    }
}

/// Returns whether a string has less characters. They need not be counted if there are
/// few or many bytes: a character has one to four.
fn is_shorter(text: &str, limit: u64) -> bool {
    let bytes = to_u64(text.len());
    bytes < limit || bytes / 4 < limit && to_u64(text.chars().count()) < limit
}

/// Returns whether a string has more characters.
fn is_longer(text: &str, limit: u64) -> bool {
    limit < u64::MAX && !is_shorter(text, limit + 1)
}

/// Converts a length for comparison with limits.
pub(super) fn to_u64(length: usize) -> u64 {
    length as u64
}
