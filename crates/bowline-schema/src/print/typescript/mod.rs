//! Shapes as TypeScript: type expressions and declarations.
//!
//! Every value that is valid for the schema is assignable to the type. Members that a
//! schema neither names nor mentions are left out: TypeScript then accepts them in
//! values, but tells a caller who writes one by mistake. Where a schema allows them
//! explicitly, there is an index signature.
//!
//! ```
//! use bowline_schema::{
//!     print::typescript::{Printer, Style},
//!     shape::Shape,
//! };
//! use serde_json::json;
//!
//! let shape = Shape::new(json!({
//!     "type": "object",
//!     "properties": {
//!         "seats": {"type": "integer", "description": "How many"},
//!         "cabin": {"$ref": "#/$defs/Cabin"},
//!     },
//!     "required": ["seats"],
//!     "$defs": {"Cabin": {"enum": ["economy", "first"]}},
//! }));
//! let printer = Printer::new(&shape, Style::FILE);
//! assert_eq!(printer.definitions(), "\
//! export type Cabin = \"economy\" | \"first\";
//! ");
//! assert_eq!(printer.declaration("Booking"), "\
//! export interface Booking {
//!   /**
//!    * How many
//!    *
//!    * @asType integer
//!    */
//!   seats: number;
//!   cabin?: Cabin;
//! }
//! ");
//! let printer = Printer::new(&shape, Style::PROMPT);
//! assert_eq!(printer.expression(), r#"{seats:number,cabin?:"economy"|"first"}"#);
//! ```

mod comment;
mod declaration;
mod expression;
pub(super) mod graph;
mod layout;
mod literal;
mod names;
mod object;
mod style;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::HashMap;

pub use self::{
    comment::jsdoc,
    literal::quote,
    names::{TypeNames, member_name},
    style::{Docs, Layout, Style},
};
use self::{expression::Writer, graph::Graph};
use crate::shape::{Definition, DefinitionId, Shape};

/// Writes a shape as TypeScript.
#[derive(Debug)]
pub struct Printer<'s> {
    shape: &'s Shape,
    style: Style,
    names: HashMap<DefinitionId, String>,
    graph: Graph,
}

impl<'s> Printer<'s> {
    /// Creates a printer. Named types have the names that the schema gives them, made
    /// valid.
    #[must_use]
    pub fn new(shape: &'s Shape, style: Style) -> Self {
        let mut names = TypeNames::new();
        Self::with_names(shape, style, |definition| names.assign(&definition.name))
    }

    /// Creates a printer for types beside others in a module. The names of those that
    /// are declared come from `name`, which must return valid ones, each once; see
    /// [`TypeNames`].
    #[must_use]
    pub fn with_names(
        shape: &'s Shape,
        style: Style,
        mut name: impl FnMut(&Definition) -> String,
    ) -> Self {
        let graph = Graph::new(shape, style.is_compact());
        let declared = graph.declared();
        let names = declared.map(|id| (id, name(shape.definition(id))));
        Self {
            shape,
            style,
            names: names.collect(),
            graph,
        }
    }

    /// Writes the type of the document.
    #[must_use]
    pub fn expression(&self) -> String {
        let doc = Writer::new(self).ty(self.shape.root()).into_doc();
        self.render(&doc)
    }

    /// Declares the type of the document under a name. Empty if it is a named type of
    /// this name.
    #[must_use]
    pub fn declaration(&self, name: &str) -> String {
        let root = self.shape.root();
        match &root.kind {
            crate::shape::TypeKind::Reference(id) if self.name(*id) == name => String::new(),
            _ => self.render(&Writer::new(self).declaration(name, root)),
        }
    }

    /// Declares the named types that the type of the document uses.
    #[must_use]
    pub fn definitions(&self) -> String {
        let writer = Writer::new(self);
        let declarations = self.graph.declared().map(|id| {
            let doc = writer.definition(id);
            self.render(&doc)
        });
        let separator = if self.style.is_compact() { "" } else { "\n" };
        declarations.collect::<Vec<_>>().join(separator)
    }

    /// Returns the name of a named type.
    fn name(&self, id: DefinitionId) -> &str {
        self.names.get(&id).map_or("unknown", String::as_str)
    }

    fn render(&self, doc: &layout::Doc) -> String {
        match self.style.layout {
            Layout::Pretty => doc.render(),
            Layout::Compact => doc.render_compact(),
        }
    }
}
