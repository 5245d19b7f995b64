//! Structs for objects.

use std::collections::HashSet;

use super::{
    Purpose,
    constructor::write_constructor,
    docs::write_docs,
    expression::{Item, Place, Printer, Role, optional},
    identifier::{field_name, string_literal},
};
use crate::{
    print::words::pascal_case,
    shape::{Additional, Field, ObjectType, Type, TypeKind},
};

/// The longest arguments of an attribute that rustfmt leaves on one line.
const MAX_ATTRIBUTE: usize = 70;

/// A field of a struct.
pub(super) struct StructField {
    pub(super) identifier: String,
    /// The type, without the `Option` of an optional field.
    pub(super) expression: String,
    pub(super) presence: Presence,
    docs: Vec<String>,
    rename: Option<String>,
}

/// When a field has a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// There is only one value that it can have.
    Constant,
    Optional,
    /// It may be absent, and it may be null.
    OptionalNullable,
    /// Members that the schema does not name.
    Extra,
}

impl<'a> Printer<'a> {
    pub(super) fn struct_item(&mut self, item: &Item<'a>, object: &'a ObjectType) -> String {
        let mut fields = self.fields(item, object);
        fields.extend(self.extra_field(item, object, &fields));
        let mut derived = Vec::new();
        let needs_nothing = |field: &StructField| field.presence != Presence::Required;
        let has_default = fields.iter().all(needs_nothing);
        derived.extend(has_default.then_some("Default"));

        let mut out = String::new();
        let docs = self.use_docs(item.ty);
        write_docs(&mut out, &docs, 0);
        out.push_str(&derives(&derived));
        let mut attributes = Vec::new();
        let convention = camel_case_for_all(&fields);
        attributes.extend(convention.map(|name| format!("rename_all = \"{name}\"")));
        let is_closed = object.additional == Additional::Forbidden;
        if is_closed && item.role == Role::Tried {
            attributes.push("deny_unknown_fields".to_owned());
        }
        out.push_str(&attribute(0, &attributes));
        if fields.is_empty() {
            out.push_str(&format!("pub struct {} {{}}\n", item.name));
            return out;
        }
        out.push_str(&format!("pub struct {} {{\n", item.name));
        for field in &fields {
            self.write_field(&mut out, field, convention.is_some());
        }
        out.push_str("}\n");
        if self.purpose == Purpose::Make {
            write_constructor(&mut out, &item.name, &fields, self.types.options.width);
        }
        out
    }

    fn fields(&mut self, item: &Item<'a>, object: &'a ObjectType) -> Vec<StructField> {
        let tag = match item.role {
            Role::Tagged(tag) => Some(tag),
            _ => None,
        };
        let mut taken = HashSet::new();
        let fields = object.fields.iter();
        let fields = fields.filter(|field| Some(field.name.as_str()) != tag);
        fields
            .map(|field| self.field(item, field, &mut taken))
            .collect()
    }

    fn field(
        &mut self,
        item: &Item<'a>,
        field: &'a Field,
        taken: &mut HashSet<String>,
    ) -> StructField {
        let identifier = free_identifier(&field_name(&field.name), taken);
        let short = pascal_case(&field.name);
        let long = format!("{}{short}", item.name);
        let expression = self.expression(
            &field.ty,
            Place {
                names: [&short, &long],
                is_direct: true,
            },
        );
        let presence = match field.is_required {
            true if self.is_constant(&field.ty) => Presence::Constant,
            true => Presence::Required,
            false if self.accepts_null(&field.ty) => Presence::OptionalNullable,
            false => Presence::Optional,
        };
        let rename = identifier.strip_prefix("r#").unwrap_or(&identifier) != field.name;
        StructField {
            docs: self.use_docs(&field.ty),
            rename: rename.then(|| field.name.clone()),
            identifier,
            expression,
            presence,
        }
    }

    /// Returns whether a type becomes an enum with one variant, which is its default.
    fn is_constant(&self, ty: &Type) -> bool {
        let resolved = self.shape.resolve(ty);
        let is_nullable = ty.is_nullable || resolved.is_nullable;
        match &resolved.kind {
            TypeKind::Literals(literals) => {
                literals.len() == 1 && !is_nullable && self.is_enum(literals)
            }
            _ => false,
        }
    }

    fn extra_field(
        &mut self,
        item: &Item<'a>,
        object: &'a ObjectType,
        fields: &[StructField],
    ) -> Option<StructField> {
        let expression = match &object.additional {
            Additional::Forbidden => return None,
            Additional::Typed(ty) => {
                let long = format!("{}Extra", item.name);
                let place = Place {
                    names: ["Extra", &long],
                    is_direct: false,
                };
                let values = self.expression(ty, place);
                self.types.map(&values)
            }
            Additional::Unstated | Additional::Any => self.types.object(),
        };
        let mut taken = fields
            .iter()
            .map(|field| field.identifier.clone())
            .collect();
        Some(StructField {
            identifier: free_identifier("extra", &mut taken),
            expression,
            presence: Presence::Extra,
            docs: vec!["Members that the schema does not name.".to_owned()],
            rename: None,
        })
    }

    fn write_field(&self, out: &mut String, field: &StructField, has_convention: bool) {
        write_docs(out, &field.docs, 4);
        let rename = field.rename.as_ref().filter(|_| !has_convention);
        let rename = rename.map(|name| format!("rename = {}", string_literal(name)));
        let mut attributes = Vec::from_iter(rename);
        if field.presence == Presence::OptionalNullable {
            let present = string_literal(&self.types.options.present);
            attributes.push("default".to_owned());
            attributes.push(format!("deserialize_with = {present}"));
        }
        if field.is_optional() {
            attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
        }
        if field.presence == Presence::Extra {
            attributes.push("flatten".to_owned());
        }
        out.push_str(&attribute(4, &attributes));
        let expression = optional(field.expression.clone(), field.is_optional());
        for part in ["    pub ", &field.identifier, ": ", &expression, ",\n"] {
            out.push_str(part);
        }
    }
}

impl StructField {
    pub(super) fn is_optional(&self) -> bool {
        matches!(
            self.presence,
            Presence::Optional | Presence::OptionalNullable
        )
    }
}

/// Returns the derives that all items have, and these.
pub(super) fn derives(others: &[&str]) -> String {
    let mut names = vec!["Clone", "Debug", "PartialEq", "Serialize", "Deserialize"];
    names.splice(2..2, others.iter().copied());
    format!("#[derive({})]\n", names.join(", "))
}

/// Returns an attribute for serde, broken into lines if it is long.
pub(super) fn attribute(indent: usize, arguments: &[String]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    let indent = " ".repeat(indent);
    let joined = arguments.join(", ");
    if joined.len() <= MAX_ATTRIBUTE {
        return [&indent, "#[serde(", &joined, ")]\n"].concat();
    }
    let lines = arguments
        .iter()
        .map(|argument| format!("{indent}    {argument}"));
    let lines: Vec<String> = lines.collect();
    format!("{indent}#[serde(\n{}\n{indent})]\n", lines.join(",\n"))
}

/// Returns an identifier that is not taken yet.
fn free_identifier(wanted: &str, taken: &mut HashSet<String>) -> String {
    let plain = wanted.strip_prefix("r#").unwrap_or(wanted);
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
    let free = candidates.find(|name| taken.insert(name.clone()));
    free.unwrap_or_else(|| wanted.to_owned())
}

/// Returns the convention that turns all identifiers into the names of their members,
/// if some need one.
fn camel_case_for_all(fields: &[StructField]) -> Option<&'static str> {
    let renamed = fields.iter().filter(|field| field.rename.is_some()).count();
    let fits = |field: &StructField| {
        let name = field.rename.as_deref();
        let identifier = field.identifier.strip_prefix("r#");
        let identifier = identifier.unwrap_or(&field.identifier);
        field.presence == Presence::Extra
            || serde_camel_case(identifier) == name.unwrap_or(identifier)
    };
    (renamed > 1 && fields.iter().all(fits)).then_some("camelCase")
}

/// Returns what serde makes of the name of a field.
fn serde_camel_case(identifier: &str) -> String {
    let mut cased = String::new();
    let mut capitalizes = false;
    for character in identifier.chars() {
        match character {
            '_' => capitalizes = true,
            letter if capitalizes => {
                cased.push(letter.to_ascii_uppercase());
                capitalizes = false;
            }
            letter => cased.push(letter),
        }
    }
    cased
}
