//! Lists of members and named types.

use super::{
    escape::{code, paragraphs},
    item::{facts_of, sentence},
    label::label,
};
use crate::{
    print::value::write_json,
    shape::{Additional, Literal, ObjectType, Shape, Type, TypeKind, UnionType},
};

/// About how many bytes are written.
const MAX_BYTES: usize = 8 << 20;
/// How deep members are listed inside each other.
const MAX_DEPTH: usize = 8;
/// How long values may be.
const MAX_VALUE: usize = 120;

/// Writes Markdown until it is too much.
pub(super) struct Writer<'s> {
    shape: &'s Shape,
    text: String,
}

impl<'s> Writer<'s> {
    pub(super) fn new(shape: &'s Shape) -> Self {
        Self {
            shape,
            text: String::new(),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes what is said about a type of this name, and what it consists of.
    pub(super) fn described(&mut self, ty: &Type, name: &str) {
        if self.is_full() {
            return;
        }
        let before = self.text.len();
        let title = ty.annotations.title.as_ref();
        let title = title.filter(|title| *title != name);
        if let Some(text) = ty.annotations.description.as_ref().or(title) {
            self.line(&paragraphs(text, 0));
            self.line("");
        }
        let said = self.text.len();
        self.contents(ty, 0);
        if self.text.len() == said && said > before {
            // An empty line that nothing follows.
            self.text.pop();
        }
    }

    /// Writes what a type consists of: a list, or its name.
    pub(super) fn contents(&mut self, ty: &Type, depth: usize) {
        match &ty.kind {
            TypeKind::Object(object) if object.map_values().is_none() => {
                self.members(object, depth);
            }
            TypeKind::Any => {}
            _ => {
                let mut sentences = vec![format!("Type: {}.", code(&label(self.shape, ty)))];
                sentences.extend(facts_of(self.shape, ty));
                self.line(&sentences.join(" "));
                let before = self.text.len();
                self.inside(ty, depth);
                if self.text.len() > before {
                    self.text.insert(before, '\n');
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() > MAX_BYTES
    }

    fn item(&mut self, depth: usize, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', 2 * depth));
        self.text.push_str("- ");
        self.line(text);
    }

    fn members(&mut self, object: &ObjectType, depth: usize) {
        for field in &object.fields {
            if self.is_full() {
                return;
            }
            let (ty, mut about) = (&field.ty, vec![code(&label(self.shape, &field.ty))]);
            about.extend(field.is_required.then(|| "required".to_owned()));
            about.extend(
                ty.annotations
                    .is_deprecated
                    .then(|| "deprecated".to_owned()),
            );
            let head = format!("{} ({})", code(&field.name), about.join(", "));
            self.item(depth, &self.with_text(&head, ty, depth));
            self.inside(ty, depth + 1);
        }
        match &object.additional {
            Additional::Typed(ty) => {
                let head = format!("any other name ({})", code(&label(self.shape, ty)));
                self.item(depth, &self.with_text(&head, ty, depth));
                self.inside(ty, depth + 1);
            }
            Additional::Any if !object.fields.is_empty() => self.item(depth, "any other name"),
            _ => {}
        }
    }

    /// Adds what is said about a member.
    fn with_text(&self, head: &str, ty: &Type, depth: usize) -> String {
        let annotations = &ty.annotations;
        let description = annotations.description.as_deref().unwrap_or_default();
        let description = paragraphs(description, 2 * depth + 2);
        let mut sentences = Vec::new();
        if !description.is_empty() {
            sentences.push(sentence(&description));
        }
        sentences.extend(facts_of(self.shape, ty));
        match sentences.is_empty() {
            true => head.to_owned(),
            false => format!("{head}: {}", sentences.join(" ")),
        }
    }

    /// Lists what is inside of a type and has no name.
    fn inside(&mut self, ty: &Type, depth: usize) {
        if depth > MAX_DEPTH || self.is_full() {
            return;
        }
        match &ty.kind {
            TypeKind::Object(object) => match &object.additional {
                Additional::Typed(values) if object.fields.is_empty() => self.inside(values, depth),
                _ => self.members(object, depth),
            },
            TypeKind::Array(array) => self.inside(&array.items, depth),
            TypeKind::Tuple(tuple) => {
                let rest = tuple.rest.as_deref();
                let items = tuple.items.iter().chain(rest);
                for (at, item) in items.enumerate().filter(|(_, item)| has_inside(item)) {
                    let head = format!("item {} ({})", at + 1, code(&label(self.shape, item)));
                    self.item(depth, &self.with_text(&head, item, depth));
                    self.inside(item, depth + 1);
                }
            }
            TypeKind::Union(union) => self.variants(union, depth),
            TypeKind::Literals(literals) => self.values(literals, depth),
            _ => {}
        }
    }

    fn variants(&mut self, union: &UnionType, depth: usize) {
        for (at, variant) in union.variants.iter().enumerate() {
            if !has_inside(variant) {
                continue;
            }
            let value = union.tag.as_ref().and_then(|tag| {
                let value = tag.values.get(at)?;
                Some((code(&tag.name), code(&format!("{value:?}"))))
            });
            let head = match value {
                Some((name, value)) => format!("if {name} is {value}"),
                None => code(&label(self.shape, variant)),
            };
            self.item(depth, &self.with_text(&head, variant, depth));
            self.inside(variant, depth + 1);
        }
    }

    /// Lists the values that are described.
    fn values(&mut self, literals: &[Literal], depth: usize) {
        for literal in literals {
            let text = literal.description.as_ref().or(literal.title.as_ref());
            if let Some(text) = text.filter(|_| !self.is_full()) {
                let value = code(&write_json(&literal.value, MAX_VALUE));
                let text = paragraphs(text, 2 * depth + 2);
                self.item(depth, &format!("{value}: {text}"));
            }
        }
    }
}

/// Returns whether there is something to list inside of a type.
fn has_inside(ty: &Type) -> bool {
    match &ty.kind {
        TypeKind::Object(object) => {
            let values = match &object.additional {
                Additional::Typed(values) => has_inside(values),
                _ => false,
            };
            !object.fields.is_empty() || values
        }
        TypeKind::Array(array) => has_inside(&array.items),
        TypeKind::Tuple(tuple) => tuple.items.iter().any(has_inside),
        TypeKind::Union(union) => union.variants.iter().any(has_inside),
        TypeKind::Literals(literals) => literals
            .iter()
            .any(|literal| literal.title.is_some() || literal.description.is_some()),
        _ => false,
    }
}
