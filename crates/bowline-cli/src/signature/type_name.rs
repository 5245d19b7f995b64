//! Short expressions for types.
//!
//! `string`, `date`, `1..9`, `"economy" | "business"`, `Flight[]`, `{ x:
//! number, y?: number }`: enough to know what to type.

use std::collections::HashSet;

use super::{
    Budget,
    node::Node,
    schema::{Kind, Schema},
};

/// How much of a type is spelled out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// Maximum depth of nested objects.
    pub(crate) depth: usize,
    /// Maximum number of choices listed.
    pub(crate) choices: usize,
    /// Maximum depth of nested types, which may be recursive.
    nesting: usize,
}

/// Maximum number of alternatives visited.
const MAX_VARIANTS: usize = 12;

impl Detail {
    /// For a line in a list.
    pub(crate) const SHORT: Self = Self {
        depth: 1,
        choices: 6,
        nesting: 8,
    };
    fn deeper(self) -> Option<Self> {
        let depth = self.depth.checked_sub(1)?;
        Some(Self { depth, ..self })
    }

    fn nested(self) -> Option<Self> {
        let nesting = self.nesting.checked_sub(1)?;
        Some(Self { nesting, ..self })
    }
}

/// Returns the type described by a schema.
pub(crate) fn type_name(schema: Schema<'_>, detail: Detail) -> String {
    type_expression(schema, detail, &Budget::default())
}

/// Returns the type, with a budget shared with others.
pub(super) fn type_expression(schema: Schema<'_>, detail: Detail, budget: &Budget) -> String {
    let Some(detail) = detail.nested() else {
        return "…".to_owned();
    };
    let reference = schema.reference();
    let resolved = schema.resolved();
    if !budget.spend_on(resolved) {
        return "…".to_owned();
    }
    if let Some(choices) = resolved.choices() {
        return choice_expression(&choices, detail, budget);
    }
    let variants = resolved.variants();
    if !variants.is_empty() {
        // Alternatives multiply, so they count twice.
        let Some(detail) = detail.nested() else {
            return "…".to_owned();
        };
        let variants = variants.iter().take(MAX_VARIANTS);
        let names = variants.map(|variant| type_expression(*variant, detail, budget));
        return union_expression(names, detail);
    }
    let kinds = resolved.kinds();
    if let (Some(name), [Kind::Object]) = (reference, kinds.as_slice()) {
        return name.to_owned();
    }
    if kinds.is_empty() {
        return "any".to_owned();
    }
    let names = kinds
        .iter()
        .map(|kind| kind_expression(*kind, resolved, detail, budget));
    union_expression(names, detail)
}

/// Spells out an object, even if it has a name.
pub(super) fn object_expression(schema: Schema<'_>, detail: Detail, budget: &Budget) -> String {
    let resolved = schema.resolved();
    if !budget.spend_on(resolved) {
        return "{ … }".to_owned();
    }
    let properties = resolved.properties();
    if properties.is_empty() {
        return match resolved.subschema("additionalProperties") {
            Some(values) if !values.resolved().kinds().is_empty() => {
                let inner = detail.deeper();
                let values = inner.map(|detail| type_expression(values, detail, budget));
                format!("{{ [name]: {} }}", values.as_deref().unwrap_or("…"))
            }
            _ => "object".to_owned(),
        };
    }
    let Some(inner) = detail.deeper() else {
        return "{ … }".to_owned();
    };
    let mut members = Vec::new();
    for property in &properties {
        if !budget.spend(property.name.len()) {
            members.push("…".to_owned());
            break;
        }
        let suffix = if property.is_required() { "" } else { "?" };
        let name = type_expression(property.schema, inner, budget);
        members.push(format!("{}{suffix}: {name}", property.name));
    }
    format!("{{ {} }}", members.join(", "))
}

fn kind_expression(kind: Kind, schema: Schema<'_>, detail: Detail, budget: &Budget) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer => integer_expression(schema),
        Kind::Number => number_expression(schema),
        Kind::Array => array_expression(schema, detail, budget),
        Kind::Object => object_expression(schema, detail, budget),
        Kind::String => schema.get_str("format").unwrap_or("string").to_owned(),
    }
}

fn array_expression(schema: Schema<'_>, detail: Detail, budget: &Budget) -> String {
    let Some(items) = schema.items() else {
        return "any[]".to_owned();
    };
    let name = type_expression(items, detail, budget);
    if name.contains(" | ") && !name.starts_with('{') {
        format!("({name})[]")
    } else {
        format!("{name}[]")
    }
}

/// Returns `1..9`, or `integer`. Bounds that only reflect an integer's storage
/// size are left out.
fn integer_expression(schema: Schema<'_>) -> String {
    let bound = |keyword: &str| schema.get(keyword).and_then(Node::as_f64);
    let is_small = |value: &f64| value.abs() < f64::from(i32::MAX);
    let exclusive_min = bound("exclusiveMinimum").map(|bound| bound.floor() + 1.0);
    let exclusive_max = bound("exclusiveMaximum").map(|bound| bound.ceil() - 1.0);
    let min = bound("minimum").or(exclusive_min).filter(is_small);
    let max = bound("maximum").or(exclusive_max).filter(is_small);
    match (min, max) {
        (None, None) => "integer".to_owned(),
        (min, max) => {
            let show = |bound: Option<f64>| bound.map(|bound| bound.to_string());
            format!(
                "{}..{}",
                show(min).unwrap_or_default(),
                show(max).unwrap_or_default()
            )
        }
    }
}

/// Returns `number 0..1`, with `<` before an exclusive bound.
fn number_expression(schema: Schema<'_>) -> String {
    let bound = |keyword: &str| schema.get(keyword).filter(|node| node.as_f64().is_some());
    let min = bound("minimum").map(Node::to_string);
    let exclusive_min = bound("exclusiveMinimum").map(|bound| format!("{bound}<"));
    let max = bound("maximum").map(Node::to_string);
    let exclusive_max = bound("exclusiveMaximum").map(|bound| format!("<{bound}"));
    match (min.or(exclusive_min), max.or(exclusive_max)) {
        (None, None) => "number".to_owned(),
        (min, max) => format!(
            "number {}..{}",
            min.unwrap_or_default(),
            max.unwrap_or_default()
        ),
    }
}

/// Formats a choice of values.
fn choice_expression(choices: &[&Node], detail: Detail, budget: &Budget) -> String {
    let mut is_cut = false;
    let names = choices.iter().map(ToString::to_string).take_while(|name| {
        is_cut = !budget.spend(name.len());
        !is_cut
    });
    let mut expression = union_expression(names, detail);
    if is_cut {
        expression.push_str(" | …");
    }
    expression
}

/// Formats a union without duplicates.
fn union_expression(names: impl Iterator<Item = String>, detail: Detail) -> String {
    let mut alternatives: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        if alternatives.len() >= detail.choices {
            alternatives.push("…".to_owned());
            break;
        }
        seen.insert(name.clone());
        alternatives.push(name);
    }
    alternatives.join(" | ")
}
