//! Declarations of named types.

use super::{comment::comment, expression::Writer, layout::Doc, variants::Variants};
use crate::shape::{DefinitionId, Type, TypeKind};

impl Writer<'_> {
    /// Declares a named type.
    pub(super) fn definition(&self, id: DefinitionId) -> Doc {
        let definition = self.printer.shape.definition(id);
        let name = self.printer.name(id);
        match self.printer.graph.is_endless(id) {
            // A type that consists of itself says nothing.
            true => self.alias(name, Variants::word("unknown"), &definition.ty),
            false => self.declaration(name, &definition.ty),
        }
    }

    /// Declares a type under a name, with a line break at the end.
    pub(super) fn declaration(&self, name: &str, ty: &Type) -> Doc {
        match &ty.kind {
            TypeKind::Object(object)
                if !ty.is_nullable
                    && !object.fields.is_empty()
                    && !self.printer.style.is_compact() =>
            {
                let mut members = Vec::new();
                for member in self.members(object) {
                    members.extend([Doc::HardLine, member, Doc::text(";")]);
                }
                let docs = vec![
                    Doc::text(format!("export interface {name} {{")),
                    Doc::indent(members),
                    Doc::HardLine,
                    Doc::text("}"),
                ];
                self.commented(docs, name, ty)
            }
            _ => self.alias(name, self.ty(ty), ty),
        }
    }

    fn alias(&self, name: &str, variants: Variants, ty: &Type) -> Doc {
        let (start, end) = match self.printer.style.is_compact() {
            true => (format!("type {name}="), ""),
            false => (format!("export type {name} ="), ";"),
        };
        let docs = vec![
            Doc::text(start),
            Doc::Space,
            variants.into_doc(),
            Doc::text(end),
        ];
        self.commented(docs, name, ty)
    }

    fn commented(&self, docs: Vec<Doc>, name: &str, ty: &Type) -> Doc {
        let comment = comment(self, ty, name);
        Doc::List(
            comment
                .into_iter()
                .chain(docs)
                .chain([Doc::HardLine])
                .collect(),
        )
    }
}
