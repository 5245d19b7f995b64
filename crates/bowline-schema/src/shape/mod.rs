//! The typed form of a schema, for printers, forms and generators.
//!
//! Validation asks whether a value is valid; a [`Shape`] says what valid values look
//! like. It excludes no valid value, with one exception: a schema that has no `type`
//! but, for example, `properties` is taken for an object, which is what its author
//! meant. What a type cannot express, such as `not` or `if`, is left out. If nothing is
//! left, the type is [`TypeKind::Any`], and [`Shape::schema`] returns the schema.

mod annotations;
mod build;
mod contents;
mod intersect;
mod literals;
mod names;
mod object;
mod recursion;
mod tag;
#[cfg(test)]
mod tests;
mod types;
mod union;

use serde_json::Value;

pub use self::types::{
    Additional, Annotations, ArrayType, Bound, Definition, DefinitionId, Field, Literal, MapValues,
    NumberType, ObjectType, StringType, Tag, TupleType, Type, TypeKind, UnionType,
};

/// The typed form of a schema: its type, and the named types that it uses.
///
/// ```
/// use bowline_schema::shape::{Shape, TypeKind};
/// use serde_json::json;
///
/// let shape = Shape::new(json!({
///     "type": "object",
///     "properties": {"seats": {"type": "integer"}, "cabin": {"$ref": "#/$defs/Cabin"}},
///     "required": ["seats"],
///     "$defs": {"Cabin": {"enum": ["economy", "first"]}},
/// }));
/// let TypeKind::Object(object) = &shape.root().kind else { panic!() };
/// assert_eq!(object.fields[0].name, "seats");
/// assert!(object.fields[0].is_required);
/// let TypeKind::Reference(id) = object.fields[1].ty.kind else { panic!() };
/// assert_eq!(shape.definition(id).name, "Cabin");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    document: Value,
    root: Type,
    definitions: Vec<Definition>,
}

impl Shape {
    /// Returns the typed form of a schema. Every JSON value has one: what is not a valid
    /// schema becomes [`TypeKind::Any`].
    #[must_use]
    pub fn new(schema: Value) -> Self {
        let (root, definitions) = build::build(&schema);
        Self {
            document: schema,
            root,
            definitions,
        }
    }

    /// Returns the type of the document.
    #[must_use]
    pub fn root(&self) -> &Type {
        &self.root
    }

    /// Returns the named types, in the order in which they are first used.
    #[must_use]
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = (DefinitionId, &Definition)> {
        let definitions = self.definitions.iter().enumerate();
        definitions.map(|(index, definition)| (DefinitionId(index), definition))
    }

    /// Returns a named type.
    ///
    /// # Panics
    ///
    /// Panics if the id belongs to another shape that has more named types.
    #[must_use]
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0]
    }

    /// Returns the schema of a type.
    #[must_use]
    pub fn schema(&self, ty: &Type) -> &Value {
        let schema = self.document.pointer(&ty.pointer);
        schema.unwrap_or(&Value::Null)
    }

    /// Returns the schema of the document.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Follows references to the type that they name. A reference that only leads to
    /// itself is returned as it is.
    #[must_use]
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut current = ty;
        for _ in 0..=self.definitions.len() {
            match &current.kind {
                TypeKind::Reference(id) => current = &self.definition(*id).ty,
                _ => break,
            }
        }
        current
    }
}
