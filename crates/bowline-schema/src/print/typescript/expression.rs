//! Types as TypeScript.

use std::cell::Cell;

use super::{
    Printer,
    comment::comment,
    layout::Doc,
    literal,
    style::Docs,
    variants::{Variant, Variants},
};
use crate::shape::{ArrayType, TupleType, Type, TypeKind, UnionType};

/// About how many bytes are written at once. A small schema can describe a very large
/// type, with the same comments over and over.
const MAX_BYTES: usize = 16 << 20;
/// How many items of a tuple are spelled out.
const MAX_TUPLE_ITEMS: usize = 100;

/// Writes types until there are too many.
pub(super) struct Writer<'p> {
    pub(super) printer: &'p Printer<'p>,
    remaining: Cell<usize>,
}

impl<'p> Writer<'p> {
    pub(super) fn new(printer: &'p Printer<'p>) -> Self {
        Self {
            printer,
            remaining: Cell::new(MAX_BYTES),
        }
    }

    /// Counts what is about to be written. Returns false if it is too much.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let remaining = self.remaining.get().checked_sub(bytes);
        self.remaining.set(remaining.unwrap_or_default());
        remaining.is_some()
    }

    /// Writes a type.
    pub(super) fn ty(&self, ty: &Type) -> Variants {
        if !self.spend(16) {
            return Variants::word("unknown");
        }
        let variants = self.kind(ty);
        if !ty.is_nullable || variants.is_unknown() {
            return variants;
        }
        let null = Variant::new(Doc::text("null"));
        Variants::union(variants.into_iter().chain([null]))
    }

    fn kind(&self, ty: &Type) -> Variants {
        match &ty.kind {
            TypeKind::Never => Variants::word("never"),
            TypeKind::Null => Variants::word("null"),
            TypeKind::Boolean => Variants::word("boolean"),
            TypeKind::Integer(_) | TypeKind::Number(_) => Variants::word("number"),
            TypeKind::String(_) => Variants::word("string"),
            TypeKind::Literals(literals) => {
                let size = literals
                    .iter()
                    .map(|it| 16 + it.value.as_str().map_or(0, str::len));
                if !self.spend(size.sum()) {
                    return Variants::word("unknown");
                }
                let variants = literal::variants(literals, self.printer.style);
                Variants::union(variants.into_iter().map(Variant::new))
            }
            TypeKind::Array(array) => Variants::one(Variant::new(self.array(array))),
            TypeKind::Tuple(tuple) => Variants::one(Variant::new(self.tuple(tuple))),
            TypeKind::Object(object) => Variants::one(Variant::object(self.object(object))),
            TypeKind::Union(union) => self.union(union),
            TypeKind::Reference(id) => match self.printer.graph.is_inlined(*id) {
                true => self.ty(&self.printer.shape.definition(*id).ty),
                false => Variants::word(self.printer.name(*id)),
            },
            _ => Variants::word("unknown"),
        }
    }

    fn array(&self, array: &ArrayType) -> Doc {
        Doc::List(vec![self.ty(&array.items).into_operand(), Doc::text("[]")])
    }

    fn tuple(&self, tuple: &TupleType) -> Doc {
        if tuple.items.len() > MAX_TUPLE_ITEMS {
            return Doc::text("unknown[]");
        }
        let mut items = Vec::new();
        for (at, item) in tuple.items.iter().enumerate() {
            items.push(match at < tuple.min_items {
                true => self.ty(item).into_doc(),
                false => Doc::List(vec![self.ty(item).into_operand(), Doc::text("?")]),
            });
        }
        if let Some(rest) = &tuple.rest {
            items.push(Doc::List(vec![
                Doc::text("..."),
                self.ty(rest).into_operand(),
                Doc::text("[]"),
            ]));
        }
        self.printer.style.tuple(items)
    }

    fn union(&self, union: &UnionType) -> Variants {
        let has_comments =
            self.printer.style.docs == Docs::Full && !self.printer.style.is_compact();
        let variants = union.variants.iter().flat_map(|ty| {
            let mut variants: Vec<_> = self.ty(ty).into_iter().collect();
            let is_object = matches!(ty.kind, TypeKind::Object(_));
            if let [only] = &mut variants[..]
                && has_comments
                && is_object
            {
                only.comment = comment(self, ty, "");
            }
            variants
        });
        Variants::union(variants)
    }
}
