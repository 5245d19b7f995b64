//! The alternatives of a type.

use std::collections::HashSet;

use super::{DefinitionId, Shape, Type, TypeKind};

/// How many types are visited to list alternatives.
const MAX_VISITED: usize = 1_000;

/// The alternatives of a type, whether its union is spelled out or has a name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variants<'a> {
    /// The types. None of them is a union or `null`, or a reference to one;
    /// [`Shape::resolve`] returns what a reference names.
    pub types: Vec<&'a Type>,
    /// Whether `null` is allowed too.
    pub is_nullable: bool,
    /// Whether these are all. If not, there are too many to list.
    pub is_complete: bool,
}

impl Shape {
    /// Returns the alternatives of a type: itself, if it is not a union.
    ///
    /// ```
    /// use bowline_schema::shape::Shape;
    /// use serde_json::json;
    ///
    /// let shape = Shape::new(json!({
    ///     "anyOf": [{"$ref": "#/$defs/Id"}, {"type": "boolean"}],
    ///     "$defs": {"Id": {"type": ["integer", "string", "null"]}},
    /// }));
    /// let variants = shape.variants(shape.root());
    /// assert_eq!(variants.types.len(), 3);
    /// assert!(variants.is_nullable);
    /// ```
    #[must_use]
    pub fn variants<'a>(&'a self, ty: &'a Type) -> Variants<'a> {
        self.variants_of_all([ty])
    }

    /// Returns the alternatives of a value that has one of several types.
    pub(crate) fn variants_of_all<'a>(
        &'a self,
        types: impl IntoIterator<Item = &'a Type>,
    ) -> Variants<'a> {
        let mut collector = Collector {
            shape: self,
            seen: HashSet::new(),
            remaining: MAX_VISITED,
            found: Variants {
                types: Vec::new(),
                is_nullable: false,
                is_complete: true,
            },
        };
        types.into_iter().for_each(|ty| collector.visit(ty));
        collector.found
    }
}

struct Collector<'a> {
    shape: &'a Shape,
    /// The named unions that were visited: they may be recursive.
    seen: HashSet<DefinitionId>,
    remaining: usize,
    found: Variants<'a>,
}

impl<'a> Collector<'a> {
    fn visit(&mut self, ty: &'a Type) {
        let Some(remaining) = self.remaining.checked_sub(1) else {
            self.found.is_complete = false;
            return;
        };
        self.remaining = remaining;
        self.found.is_nullable |= ty.is_nullable;
        match &ty.kind {
            TypeKind::Null => self.found.is_nullable = true,
            TypeKind::Union(union) => union.variants.iter().for_each(|ty| self.visit(ty)),
            TypeKind::Reference(id) => self.visit_reference(ty, *id),
            _ => self.found.types.push(ty),
        }
    }

    fn visit_reference(&mut self, ty: &'a Type, id: DefinitionId) {
        let resolved = self.shape.resolve(ty);
        if matches!(resolved.kind, TypeKind::Union(_) | TypeKind::Null) {
            if self.seen.insert(id) {
                self.visit(&self.shape.definition(id).ty);
            }
            return;
        }
        self.found.is_nullable |= resolved.is_nullable;
        self.found.types.push(ty);
    }
}
