//! Objects as TypeScript: members, maps, and both.

use super::{
    comment::comment,
    expression::Writer,
    layout::Doc,
    names::member_name,
    variants::{Variant, Variants},
};
use crate::shape::{Additional, Field, MapValues, ObjectType, Type};

/// What every object inherits. It is there even where a value has no such member, so
/// the type of an optional member must include it.
const INHERITED: [&str; 7] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// How many types the values of a map may have beside each other, and how long they
/// may be. With more, they are `unknown`.
const MAX_VALUE_TYPES: usize = 8;
const MAX_VALUE_LENGTH: usize = 60;

impl Writer<'_> {
    pub(super) fn object(&self, object: &ObjectType) -> Doc {
        match object.map_values() {
            Some(MapValues::Any) => self.printer.style.record(Doc::text("unknown")),
            Some(MapValues::Typed(values)) => self.map(values),
            None if object.fields.is_empty() => self.printer.style.record(Doc::text("never")),
            None => self.printer.style.object(self.members(object)),
        }
    }

    /// Writes the members of an object.
    pub(super) fn members(&self, object: &ObjectType) -> Vec<Doc> {
        let style = self.printer.style;
        let mut members = Vec::new();
        let mut types = Vec::new();
        for field in &object.fields {
            if !self.spend(8 + field.name.len()) {
                members.push(style.index_signature(Doc::text("unknown")));
                return members;
            }
            let variants: Vec<_> = self.field_type(field).into_iter().collect();
            if matches!(object.additional, Additional::Typed(_)) {
                types.extend(
                    variants
                        .iter()
                        .map(|it| it.doc.render_within(MAX_VALUE_LENGTH, style.is_compact())),
                );
            }
            let ty = Variants::union(variants).into_doc();
            let member = style.member(&member_name(&field.name), !field.is_required, ty);
            let comment = comment(self, &field.ty, &field.name);
            members.push(Doc::List(comment.into_iter().chain([member]).collect()));
        }
        match &object.additional {
            Additional::Any => members.push(style.index_signature(Doc::text("unknown"))),
            Additional::Typed(values) => {
                let has_optional = object.fields.iter().any(|field| !field.is_required);
                types.extend(has_optional.then(|| Some("undefined".to_owned())));
                let values = self.values_beside(values, types);
                members.push(style.index_signature(values));
            }
            _ => {}
        }
        members
    }

    fn field_type(&self, field: &Field) -> Variants {
        let variants = self.ty(&field.ty);
        if field.is_required || !INHERITED.contains(&field.name.as_str()) {
            return variants;
        }
        let inherited = Variant::new(Doc::text(format!("Object[\"{}\"]", field.name)));
        Variants::union(variants.into_iter().chain([inherited]))
    }

    /// Returns the type of further members. TypeScript wants it to include the types of
    /// the named ones.
    fn values_beside(&self, values: &Type, of_fields: Vec<Option<String>>) -> Doc {
        let own = self.ty(values).into_iter();
        let of_fields: Option<Vec<String>> = of_fields.into_iter().collect();
        let Some(of_fields) = of_fields else {
            return Doc::text("unknown");
        };
        let of_fields = of_fields
            .into_iter()
            .map(|text| Variant::new(Doc::text(text)));
        let variants: Vec<_> = Variants::union(own.chain(of_fields)).into_iter().collect();
        match variants.len() > MAX_VALUE_TYPES {
            true => Doc::text("unknown"),
            false => Variants::union(variants).into_doc(),
        }
    }

    fn map(&self, values: &Type) -> Doc {
        // The arguments of a generic type cannot refer to the type that is declared.
        let is_circular = self.printer.graph.leads_into_circle(values);
        let values = self.ty(values).into_doc();
        match is_circular {
            true => {
                let style = self.printer.style;
                style.object(vec![style.index_signature(values)])
            }
            false => self.printer.style.record(values),
        }
    }
}
