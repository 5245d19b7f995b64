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
mod fits;
mod intersect;
mod literals;
mod location;
mod names;
mod object;
mod recursion;
mod tag;
#[cfg(test)]
mod tests;
mod to_schema;
mod types;
mod union;
mod variants;

use serde_json::Value;

pub use self::types::{
    Additional, Annotations, ArrayType, Bound, Definition, DefinitionId, Field, Literal, MapValues,
    NumberType, ObjectType, StringType, Tag, TupleType, Type, TypeKind, UnionType,
};
pub use self::variants::Variants;

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
    type_count: usize,
}

impl Shape {
    /// Returns the typed form of a schema. Every JSON value has one: what is not a valid
    /// schema becomes [`TypeKind::Any`].
    #[must_use]
    pub fn new(schema: Value) -> Self {
        Self::with_max_types(schema, build::MAX_TYPES)
    }

    /// Returns the typed form of a schema, made with at most this many types, at most
    /// 100,000. What exceeds them is [`TypeKind::Any`].
    ///
    /// For many schemas from a stranger: each of them may describe a type that is much
    /// larger than itself.
    #[must_use]
    pub fn with_max_types(schema: Value, max_types: usize) -> Self {
        let built = build::build(&schema, max_types.min(build::MAX_TYPES));
        Self {
            document: schema,
            root: built.root,
            definitions: built.definitions,
            type_count: built.type_count,
        }
    }

    /// Returns how many types were made for it.
    #[must_use]
    pub fn type_count(&self) -> usize {
        self.type_count
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

    /// Returns whether a member must be given: it is required and has no default. Some
    /// programs publish the schema of values after defaults are filled in.
    #[must_use]
    pub fn is_needed(&self, field: &Field) -> bool {
        let has_default = |ty: &Type| ty.annotations.default.is_some();
        field.is_required && !has_default(&field.ty) && !has_default(self.resolve(&field.ty))
    }

    /// Returns the description of a type, or else of the type that it refers to.
    #[must_use]
    pub fn description<'a>(&'a self, ty: &'a Type) -> Option<&'a str> {
        let own = ty.annotations.description.as_deref();
        own.or_else(|| self.resolve(ty).annotations.description.as_deref())
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
