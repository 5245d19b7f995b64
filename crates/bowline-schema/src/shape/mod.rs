//! The typed form of a schema, for printers, forms and generators.
//!
//! Validation asks whether a value is valid; a [`Shape`] says what valid values look
//! like. It never excludes a valid value, with one exception: a schema that has no
//! `type` but, say, `properties` is taken for an object, as its author meant it. What
//! a type cannot express, such as `not` or `if`, is left out; a schema of which
//! nothing is left is [`TypeKind::Any`], with the schema beside it.

mod types;

pub use types::{
    Additional, Annotations, ArrayType, Bound, Definition, DefinitionId, Field, Literal, MapValues,
    NumberType, ObjectType, StringType, Tag, TupleType, Type, TypeKind, UnionType,
};

/// The typed form of a schema: its type, and the named types that it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    root: Type,
    definitions: Vec<Definition>,
}

impl Shape {
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

    /// Follows references to the type that they name. A reference that only leads to
    /// itself is returned as it is.
    #[must_use]
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut current = ty;
        for _ in 0..=self.definitions.len() {
            match &current.kind {
                TypeKind::Reference(id) => current = &self.definition(*id).ty,
                _ => return current,
            }
        }
        current
    }
}
