//! Types as short expressions, for signatures and messages.
//!
//! `string`, `date`, `1..9`, `"economy" | "business"`, `Flight[]`, `[string, integer?]`,
//! `{ x: number, y?: number }`, `{ [name]: number }`, `any`: enough to know what to type.
//! Objects that have a name are called by it; every other named type is spelled out.
//! What does not fit is `…`.
//!
//! ```
//! use bowline_schema::{
//!     print::signature::{Detail, PrintBudget, Printer},
//!     shape::Shape,
//! };
//! use serde_json::json;
//!
//! let shape = Shape::new(json!({
//!     "type": "object",
//!     "properties": {
//!         "seats": {"type": "integer", "minimum": 1, "maximum": 9},
//!         "day": {"type": ["string", "null"], "format": "date"},
//!         "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
//!     },
//!     "required": ["seats"],
//!     "$defs": {"Stop": {"type": "object", "properties": {"city": {"type": "string"}}}},
//! }));
//! let budget = PrintBudget::default();
//! let printer = Printer::new(&shape, Detail::PAGE, &budget);
//! assert_eq!(
//!     printer.expression(shape.root()),
//!     "{ seats: 1..9, day?: date | null, stops?: Stop[] }",
//! );
//! let named = printer.named_types();
//! assert_eq!((&*named[0].name, &*named[0].expression), ("Stop", "{ city?: string }"));
//! ```

mod budget;
mod detail;
mod json;
mod named_types;
mod printer;
mod range;
#[cfg(test)]
mod tests;

pub use self::{
    budget::PrintBudget, detail::Detail, json::json_expression, named_types::NamedType,
    printer::Printer,
};
use crate::shape::{Shape, Type};

/// Returns a type as a short expression.
///
/// ```
/// use bowline_schema::{print::signature::{Detail, type_expression}, shape::Shape};
/// use serde_json::json;
///
/// let shape = Shape::new(json!({"type": "array", "items": {"enum": ["a", "b"]}}));
/// assert_eq!(type_expression(&shape, shape.root(), Detail::SHORT), r#"("a" | "b")[]"#);
/// ```
#[must_use]
pub fn type_expression(shape: &Shape, ty: &Type, detail: Detail) -> String {
    Printer::new(shape, detail, &PrintBudget::default()).expression(ty)
}
