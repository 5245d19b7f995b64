//! Enums for literals and unions.

use std::collections::HashSet;

use super::{
    docs::write_docs,
    expression::{Item, Place, Printer, Role},
    identifier::{lettered_type_name, string_literal, type_name},
    structs::{attribute, derives},
};
use crate::shape::{Literal, Type, TypeKind, UnionType};

/// How many variants an enum for literals may have. With more, it is a string.
const MAX_VARIANTS: usize = 500;

/// A convention of serde: its name, and what it makes of the name of a variant.
type Convention = (&'static str, fn(&str) -> String);

/// The conventions of serde, with what each makes of the name of a variant.
const CONVENTIONS: [Convention; 6] = [
    ("lowercase", str::to_ascii_lowercase),
    ("snake_case", |name| snake(name, '_')),
    ("kebab-case", |name| snake(name, '-')),
    ("UPPERCASE", str::to_ascii_uppercase),
    ("SCREAMING_SNAKE_CASE", |name| {
        snake(name, '_').to_ascii_uppercase()
    }),
    ("camelCase", |name| {
        let (first, rest) = name.split_at(1);
        first.to_ascii_lowercase() + rest
    }),
];

/// Returns the names of the variants for literals: `None` if one is not a string, has no
/// letters, or would have the same name as another.
pub(super) fn variants_of(literals: &[Literal]) -> Option<Vec<(String, &str)>> {
    if literals.is_empty() || literals.len() > MAX_VARIANTS {
        return None;
    }
    let mut taken = HashSet::new();
    let variants = literals.iter().map(|literal| {
        let value = literal.value.as_str()?;
        let name = lettered_type_name(value)?;
        taken.insert(name.clone()).then_some((name, value))
    });
    variants.collect()
}

impl<'a> Printer<'a> {
    pub(super) fn literal_enum(&mut self, item: &Item<'a>, literals: &[Literal]) -> String {
        let variants = variants_of(literals).unwrap_or_default();
        let mut out = String::new();
        let mut docs = self.use_docs(item.ty);
        if let [_, facts] = &mut docs[..] {
            // The default of one use is not that of the type.
            facts.clear();
        }
        write_docs(&mut out, &docs, 0);
        let is_constant = variants.len() == 1;
        out.push_str("#[derive(Clone, Copy, Debug");
        out.push_str(if is_constant { ", Default" } else { "" });
        out.push_str(", PartialEq, Eq, Hash, Serialize, Deserialize)]\n");
        let convention = convention_for(&variants);
        let rename_all = convention.map(|name| format!("rename_all = \"{name}\""));
        out.push_str(&attribute(0, &Vec::from_iter(rename_all)));
        out.push_str(&format!("pub enum {} {{\n", item.name));
        for ((name, value), literal) in variants.iter().zip(literals) {
            let texts = [&literal.title, &literal.description];
            let texts = texts.map(|text| text.clone().unwrap_or_default());
            write_docs(&mut out, &texts, 4);
            if is_constant {
                out.push_str("    #[default]\n");
            }
            if convention.is_none() && name != value {
                out.push_str(&attribute(
                    4,
                    &[format!("rename = {}", string_literal(value))],
                ));
            }
            out.push_str(&format!("    {name},\n"));
        }
        out.push_str("}\n");
        out
    }

    pub(super) fn union_enum(&mut self, item: &Item<'a>, union: &'a UnionType) -> String {
        let is_tagged = self.usage.is_tagged(self.shape, union);
        let tag = union.tag.as_ref().filter(|_| is_tagged);
        let mut out = String::new();
        write_docs(&mut out, &self.use_docs(item.ty), 0);
        out.push_str(&derives(&[]));
        let how = match tag {
            Some(tag) => format!("tag = {}", string_literal(&tag.name)),
            None => "untagged".to_owned(),
        };
        out.push_str(&attribute(0, &[how]));
        out.push_str(&format!("pub enum {} {{\n", item.name));
        let mut taken = HashSet::new();
        for (at, variant) in union.variants.iter().enumerate() {
            let value = tag.map(|tag| tag.values[at].as_str());
            let wanted = match value {
                Some(value) => type_name(value),
                None => self.variant_name(variant),
            };
            let name = free_variant(&wanted, &mut taken);
            if let Some(value) = value.filter(|value| *value != name) {
                out.push_str(&attribute(
                    4,
                    &[format!("rename = {}", string_literal(value))],
                ));
            }
            let long = format!("{}{name}", item.name);
            let place = Place {
                names: [&long, &long],
                is_direct: true,
            };
            let tag = tag.map(|tag| tag.name.as_str());
            let expression = self.variant(variant, place, tag);
            out.push_str(&format!("    {name}({expression}),\n"));
        }
        out.push_str("}\n");
        out
    }

    fn variant(&mut self, ty: &'a Type, place: Place<'_>, tag: Option<&'a str>) -> String {
        match (&ty.kind, tag) {
            (TypeKind::Object(object), Some(tag)) if object.map_values().is_none() => {
                self.add_item(ty, place, Role::Tagged(tag))
            }
            (TypeKind::Object(object), None) if object.map_values().is_none() => {
                self.add_item(ty, place, Role::Tried)
            }
            // Nothing else refers to the definition of a variant with a tag.
            (TypeKind::Reference(id), Some(tag)) => {
                let definition = self.shape.definition(*id);
                let names = [definition.name.as_str(), place.names[1]];
                let place = Place { names, ..place };
                let name = self.add_item(&definition.ty, place, Role::Tagged(tag));
                match definition.is_recursive {
                    true => format!("Box<{name}>"),
                    false => name,
                }
            }
            _ => self.expression(ty, place),
        }
    }

    /// Returns a name for a variant of a union without a tag.
    fn variant_name(&self, ty: &Type) -> String {
        let kind = match &ty.kind {
            TypeKind::Reference(id) => return type_name(&self.shape.definition(*id).name),
            TypeKind::Boolean => "Boolean",
            TypeKind::Integer(_) => "Integer",
            TypeKind::Number(_) => "Number",
            TypeKind::String(_) => "Text",
            TypeKind::Literals(_) => "Choice",
            TypeKind::Array(_) => "List",
            TypeKind::Tuple(_) => "Tuple",
            TypeKind::Object(_) => "Object",
            _ => "Other",
        };
        let title = ty.annotations.title.as_deref().unwrap_or_default();
        lettered_type_name(title).unwrap_or_else(|| kind.to_owned())
    }
}

fn free_variant(wanted: &str, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wanted}{number}"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
    let free = candidates.find(|name| taken.insert(name.clone()));
    free.unwrap_or_else(|| wanted.to_owned())
}

/// Returns the convention that turns all names into their values, if some need one.
fn convention_for(variants: &[(String, &str)]) -> Option<&'static str> {
    let is_needed = variants.len() > 1 && variants.iter().any(|(name, value)| name != value);
    let conventions = CONVENTIONS.iter().filter(|_| is_needed);
    let mut fitting = conventions.filter(|(_, convert)| {
        let mut variants = variants.iter();
        variants.all(|(name, value)| convert(name) == *value)
    });
    fitting.next().map(|(name, _)| *name)
}

/// Returns what serde makes of the name of a variant in `snake_case`.
fn snake(name: &str, separator: char) -> String {
    let mut cased = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            cased.push(separator);
        }
        cased.push(letter.to_ascii_lowercase());
    }
    cased
}
