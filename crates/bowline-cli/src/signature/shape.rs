//! Schemas of servers as shapes.

use bowline::RawJson;
use bowline_schema::{print::signature::PrintBudget, shape::Shape};
use serde_json::Value;

/// Returns the shape of a schema. One that cannot be parsed allows everything.
pub(crate) fn parse_shape(schema: &RawJson) -> Shape {
    Shape::new(parse(schema))
}

/// Returns the shape of a schema, with as many types as a shared budget allows;
/// `None` if it is exhausted.
pub(super) fn parse_shape_within(schema: &RawJson, budget: &PrintBudget) -> Option<Shape> {
    let max_types = budget.remaining();
    let shape = (max_types > 0).then(|| Shape::with_max_types(parse(schema), max_types))?;
    budget.spend(shape.type_count());
    Some(shape)
}

fn parse(schema: &RawJson) -> Value {
    schema.decode().unwrap_or(Value::Bool(true))
}
