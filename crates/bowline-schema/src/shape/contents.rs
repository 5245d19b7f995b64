//! The types that a type consists of.

use super::{Additional, Type, TypeKind};

impl Type {
    /// Visits the types directly inside this one.
    pub(crate) fn for_each_child<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        match &self.kind {
            TypeKind::Array(array) => visit(&array.items),
            TypeKind::Tuple(tuple) => {
                tuple.items.iter().for_each(&mut *visit);
                tuple.rest.iter().for_each(|rest| visit(rest));
            }
            TypeKind::Object(object) => {
                object.fields.iter().for_each(|field| visit(&field.ty));
                if let Additional::Typed(ty) = &object.additional {
                    visit(ty);
                }
            }
            TypeKind::Union(union) => union.variants.iter().for_each(visit),
            _ => {}
        }
    }

    /// Visits the types directly inside this one.
    pub(super) fn for_each_child_mut(&mut self, visit: &mut impl FnMut(&mut Self)) {
        match &mut self.kind {
            TypeKind::Array(array) => visit(&mut array.items),
            TypeKind::Tuple(tuple) => {
                tuple.items.iter_mut().for_each(&mut *visit);
                tuple.rest.iter_mut().for_each(|rest| visit(rest));
            }
            TypeKind::Object(object) => {
                let fields = object.fields.iter_mut();
                fields.for_each(|field| visit(&mut field.ty));
                if let Additional::Typed(ty) = &mut object.additional {
                    visit(ty);
                }
            }
            TypeKind::Union(union) => union.variants.iter_mut().for_each(visit),
            _ => {}
        }
    }
}
