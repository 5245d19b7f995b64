//! Types in a few words.

use crate::{
    print::value::{cut, write_json},
    shape::{Literal, MapValues, ObjectType, Shape, TupleType, Type, TypeKind},
};

/// How many values or types are listed.
const MAX_LISTED: usize = 20;
/// How deep types are spelled out.
const MAX_DEPTH: usize = 6;
/// How long a value or a name may be.
const MAX_LENGTH: usize = 80;

/// Returns a type in a few words. Objects are called `object`, since their members are
/// listed below.
pub(super) fn label(shape: &Shape, ty: &Type) -> String {
    let label = Labels(shape).ty(ty, MAX_DEPTH);
    label.text
}

struct Labels<'s>(&'s Shape);

struct Label {
    text: String,
    is_union: bool,
}

impl Label {
    fn one(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_union: false,
        }
    }

    fn any_of(mut labels: Vec<String>, count: usize) -> Self {
        let mut seen = std::collections::HashSet::new();
        labels.retain(|label| seen.insert(label.clone()));
        if count > MAX_LISTED {
            labels.push("…".to_owned());
        }
        Self {
            is_union: labels.len() > 1,
            text: labels.join(" | "),
        }
    }

    /// Returns the text where something that binds tighter follows.
    fn operand(self) -> String {
        match self.is_union {
            true => format!("({})", self.text),
            false => self.text,
        }
    }
}

impl Labels<'_> {
    fn ty(&self, ty: &Type, depth: usize) -> Label {
        let Some(depth) = depth.checked_sub(1) else {
            return Label::one("…");
        };
        let label = self.kind(ty, depth);
        match ty.is_nullable {
            true => Label::any_of(vec![label.text, "null".to_owned()], 2),
            false => label,
        }
    }

    fn kind(&self, ty: &Type, depth: usize) -> Label {
        let word = match &ty.kind {
            TypeKind::Never => "never",
            TypeKind::Null => "null",
            TypeKind::Boolean => "boolean",
            TypeKind::Integer(_) => "integer",
            TypeKind::Number(_) => "number",
            TypeKind::String(_) => "string",
            TypeKind::Literals(literals) => return literal_label(literals),
            TypeKind::Array(array) => {
                let items = self.ty(&array.items, depth).operand();
                return Label::one(format!("{items}[]"));
            }
            TypeKind::Tuple(tuple) => return self.tuple(tuple, depth),
            TypeKind::Object(object) => return self.object(object, depth),
            TypeKind::Union(union) => {
                let variants = union.variants.iter().take(MAX_LISTED);
                let labels = variants.map(|variant| self.ty(variant, depth).text);
                return Label::any_of(labels.collect(), union.variants.len());
            }
            TypeKind::Reference(id) => {
                let name = &self.0.definition(*id).name;
                return Label::one(cut(name, MAX_LENGTH));
            }
            TypeKind::Any => "any",
        };
        Label::one(word)
    }

    fn tuple(&self, tuple: &TupleType, depth: usize) -> Label {
        let items = tuple.items.iter().enumerate().take(MAX_LISTED);
        let items = items.map(|(at, item)| match at < tuple.min_items {
            true => self.ty(item, depth).text,
            false => format!("{}?", self.ty(item, depth).operand()),
        });
        let mut items: Vec<String> = items.collect();
        match &tuple.rest {
            _ if tuple.items.len() > MAX_LISTED => items.push("…".to_owned()),
            Some(rest) => items.push(format!("...{}[]", self.ty(rest, depth).operand())),
            None => {}
        }
        Label::one(format!("[{}]", items.join(", ")))
    }

    fn object(&self, object: &ObjectType, depth: usize) -> Label {
        match object.map_values() {
            Some(MapValues::Typed(values)) => {
                let values = self.ty(values, depth).text;
                Label::one(format!("{{ [name]: {values} }}"))
            }
            _ => Label::one("object"),
        }
    }
}

fn literal_label(literals: &[Literal]) -> Label {
    let listed = literals.iter().take(MAX_LISTED);
    let labels = listed.map(|literal| write_json(&literal.value, MAX_LENGTH));
    Label::any_of(labels.collect(), literals.len())
}
