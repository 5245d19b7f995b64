//! Shapes as Markdown: documentation for people.
//!
//! Text from schemas is escaped: it cannot begin a heading, a list, a table or HTML,
//! nor a directive of mdBook or Jekyll.
//!
//! ```
//! use bowline_schema::{print::markdown, shape::Shape};
//! use serde_json::json;
//!
//! let shape = Shape::new(json!({
//!     "type": "object",
//!     "properties": {
//!         "seats": {"type": "integer", "minimum": 1, "description": "How many"},
//!         "cabin": {"$ref": "#/$defs/Cabin", "default": "economy"},
//!     },
//!     "required": ["seats"],
//!     "$defs": {"Cabin": {"enum": ["economy", "first"]}},
//! }));
//! assert_eq!(markdown::fields(&shape), "\
//! - `seats` (`integer`, required): How many. At least 1.
//! - `cabin` (`Cabin`): Default: `\"economy\"`.
//! ");
//! assert_eq!(
//!     markdown::named_types(&shape, 3),
//!     "### Cabin\n\nType: `\"economy\" | \"first\"`.\n",
//! );
//! ```

mod escape;
mod item;
mod label;
#[cfg(test)]
mod tests;
mod writer;

pub use self::escape::{code, paragraphs, text};
use self::writer::Writer;
use super::typescript::graph::Graph;
use crate::shape::{MapValues, Shape, TypeKind};

/// Lists the members of the document's type, or describes it if it is not an object.
/// Empty if there is nothing to say.
#[must_use]
pub fn fields(shape: &Shape) -> String {
    let ty = shape.resolve(shape.root());
    if let TypeKind::Object(object) = &ty.kind
        && object.map_values() == Some(MapValues::Any)
    {
        return String::new();
    }
    let mut writer = Writer::new(shape);
    writer.contents(ty, 0);
    writer.into_text()
}

/// Describes the named types that the document's type uses, each under a heading of
/// this level.
#[must_use]
pub fn named_types(shape: &Shape, level: usize) -> String {
    let mut writer = Writer::new(shape);
    for (at, id) in Graph::new(shape, false).declared().enumerate() {
        let definition = shape.definition(id);
        if at > 0 {
            writer.line("");
        }
        let marks = "#".repeat(level.clamp(1, 6));
        writer.line(&format!("{marks} {}", text(&definition.name)));
        writer.line("");
        writer.described(&definition.ty, &definition.name);
    }
    writer.into_text()
}
