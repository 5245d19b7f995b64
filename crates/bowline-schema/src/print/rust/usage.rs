//! What has to be known about all types of a shape before they are printed.

use std::collections::{HashMap, HashSet};

use super::enums::variants_of;
use crate::shape::{DefinitionId, Shape, Type, TypeKind, UnionType};

/// How the types of a shape are used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// How many references there are to each definition.
    references: HashMap<DefinitionId, usize>,
    /// The definitions that are alternatives of a union without a tag.
    pub(super) tried: HashSet<DefinitionId>,
    /// The definitions that are not items and contain themselves in an array or a map.
    pub(super) cyclic: HashSet<DefinitionId>,
}

impl Usage {
    pub(super) fn new(shape: &Shape) -> Self {
        let mut usage = Self::default();
        usage.count(shape.root());
        for (_, definition) in shape.definitions() {
            usage.count(&definition.ty);
        }
        usage.find_tried(shape, shape.root());
        for (_, definition) in shape.definitions() {
            usage.find_tried(shape, &definition.ty);
        }
        for (id, _) in shape.definitions() {
            if !is_item(&shape.definition(id).ty) && reaches(shape, id) {
                usage.cyclic.insert(id);
            }
        }
        usage
    }

    fn count(&mut self, ty: &Type) {
        if let TypeKind::Reference(id) = ty.kind {
            *self.references.entry(id).or_default() += 1;
        }
        ty.for_each_child(&mut |child| self.count(child));
    }

    fn find_tried(&mut self, shape: &Shape, ty: &Type) {
        if let TypeKind::Union(union) = &ty.kind
            && !self.is_tagged(shape, union)
        {
            for variant in &union.variants {
                if let TypeKind::Reference(id) = variant.kind {
                    self.tried.insert(id);
                }
            }
        }
        ty.for_each_child(&mut |child| self.find_tried(shape, child));
    }

    /// Returns whether the variants of a union are told apart by a tag that serde
    /// writes. The types of the variants lack it then, so nothing else may use them.
    pub(super) fn is_tagged(&self, shape: &Shape, union: &UnionType) -> bool {
        let is_used_once = |variant: &Type| match variant.kind {
            TypeKind::Reference(id) => {
                self.references.get(&id) == Some(&1)
                    && matches!(shape.definition(id).ty.kind, TypeKind::Object(_))
            }
            _ => true,
        };
        union.tag.is_some() && union.variants.iter().all(is_used_once)
    }
}

/// Returns whether a type is an item of its own: a struct or an enum.
pub(super) fn is_item(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Object(object) => object.map_values().is_none(),
        TypeKind::Literals(literals) => variants_of(literals).is_some(),
        TypeKind::Union(_) => true,
        _ => false,
    }
}

/// Returns whether a definition contains itself, looking only through types that are
/// not items.
fn reaches(shape: &Shape, start: DefinitionId) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![&shape.definition(start).ty];
    while let Some(ty) = pending.pop() {
        match ty.kind {
            TypeKind::Reference(id) if id == start => return true,
            TypeKind::Reference(id) if seen.insert(id) => pending.push(&shape.definition(id).ty),
            _ if is_item(ty) => {}
            _ => ty.for_each_child(&mut |child| pending.push(child)),
        }
    }
    false
}
