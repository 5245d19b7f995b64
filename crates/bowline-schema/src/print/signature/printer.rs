//! The printer of types.

use std::collections::HashSet;

use super::{
    Detail, NamedType, PrintBudget,
    json::json_expression,
    named_types,
    range::{integer_expression, number_expression},
};
use crate::shape::{
    Additional, DefinitionId, Field, Literal, ObjectType, Shape, TupleType, Type, TypeKind,
};

/// The maximum number of alternatives printed.
const MAX_VARIANTS: usize = 12;

/// What stands for everything that does not fit.
const CUT: &str = "…";

/// Prints the types of a shape, within a budget that it may share with others.
#[derive(Clone, Copy, Debug)]
pub struct Printer<'a> {
    pub(super) shape: &'a Shape,
    detail: Detail,
    pub(super) budget: &'a PrintBudget,
}

/// A type as text.
struct Expression {
    text: String,
    /// Whether it consists of several alternatives.
    is_union: bool,
}

impl Expression {
    fn one(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_union: false,
        }
    }

    /// Joins alternatives without duplicates, of which at most `max` are listed.
    fn any_of(alternatives: impl IntoIterator<Item = String>, max: usize) -> Self {
        let mut listed: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for alternative in alternatives {
            if seen.contains(&alternative) {
                continue;
            }
            if listed.len() >= max {
                listed.push(CUT.to_owned());
                break;
            }
            seen.insert(alternative.clone());
            listed.push(alternative);
        }
        Self {
            is_union: listed.len() > 1,
            text: listed.join(" | "),
        }
    }

    fn or(self, alternative: &str) -> Self {
        if self.text.is_empty() {
            return Self::one(alternative);
        }
        Self {
            text: format!("{} | {alternative}", self.text),
            is_union: true,
        }
    }
}

impl<'a> Printer<'a> {
    /// Creates a printer.
    #[must_use]
    pub fn new(shape: &'a Shape, detail: Detail, budget: &'a PrintBudget) -> Self {
        Self {
            shape,
            detail,
            budget,
        }
    }

    /// Returns a type as an expression.
    #[must_use]
    pub fn expression(&self, ty: &Type) -> String {
        self.ty(ty, self.detail).text
    }

    /// Returns an expression for a value that has one of several types.
    #[must_use]
    pub fn union_expression<'t>(&self, types: impl IntoIterator<Item = &'t Type>) -> String {
        let types: Vec<&Type> = types.into_iter().collect();
        self.any_of(&types, self.detail).text
    }

    /// Returns the objects that expressions for this shape call by their names, each
    /// spelled out, in the order in which they are found.
    #[must_use]
    pub fn named_types(&self) -> Vec<NamedType> {
        named_types::collect(self)
    }

    /// Returns the definition that a type is called by: that of an object. Where it is
    /// defined, it is spelled out.
    pub(super) fn name_of(&self, ty: &Type) -> Option<DefinitionId> {
        let TypeKind::Reference(id) = ty.kind else {
            return None;
        };
        let is_object = matches!(self.shape.resolve(ty).kind, TypeKind::Object(_));
        let is_elsewhere = self.shape.definition(id).pointer != ty.pointer;
        (is_object && is_elsewhere).then_some(id)
    }

    /// Spells out an object, even if it has a name.
    pub(super) fn object_expression(&self, object: &ObjectType) -> String {
        self.object(object, self.detail)
    }

    fn ty(&self, ty: &Type, detail: Detail) -> Expression {
        self.any_of(&[ty], detail)
    }

    fn any_of(&self, types: &[&Type], detail: Detail) -> Expression {
        let detail = detail.nested().filter(|_| self.budget.spend(1));
        let Some(mut detail) = detail else {
            return Expression::one(CUT);
        };
        let variants = self.shape.variants_of_all(types.iter().copied());
        let expression = match &variants.types[..] {
            [] if variants.is_nullable => Expression::one(""),
            [] => Expression::one("never"),
            [only] => self.variant(only, detail),
            several => {
                // Alternatives multiply, so they count twice.
                let Some(inner) = detail.nested() else {
                    return Expression::one(CUT);
                };
                detail = inner;
                let is_cut = !variants.is_complete || several.len() > MAX_VARIANTS;
                let listed = several.iter().take(MAX_VARIANTS);
                let listed = listed.map(|variant| self.variant(variant, detail).text);
                let cut = is_cut.then(|| CUT.to_owned());
                Expression::any_of(listed.chain(cut), detail.choices)
            }
        };
        match variants.is_nullable {
            true => expression.or("null"),
            false => expression,
        }
    }

    /// Prints a type that is not a union.
    fn variant(&self, ty: &Type, detail: Detail) -> Expression {
        if !self.budget.spend(1) {
            return Expression::one(CUT);
        }
        if let Some(id) = self.name_of(ty) {
            return self.text(&self.shape.definition(id).name);
        }
        match &self.shape.resolve(ty).kind {
            TypeKind::Never => Expression::one("never"),
            TypeKind::Null => Expression::one("null"),
            TypeKind::Boolean => Expression::one("boolean"),
            TypeKind::Integer(range) => Expression::one(integer_expression(range)),
            TypeKind::Number(range) => Expression::one(number_expression(range)),
            TypeKind::String(string) => self.text(string.format.as_deref().unwrap_or("string")),
            TypeKind::Literals(literals) => self.literals(literals, detail),
            TypeKind::Array(array) => {
                let items = self.ty(&array.items, detail);
                Expression::one(match items.is_union {
                    true => format!("({})[]", items.text),
                    false => format!("{}[]", items.text),
                })
            }
            TypeKind::Tuple(tuple) => Expression::one(self.tuple(tuple, detail)),
            TypeKind::Object(object) => Expression::one(self.object(object, detail)),
            // A reference that only leads to itself says nothing.
            TypeKind::Any | TypeKind::Union(_) | TypeKind::Reference(_) => Expression::one("any"),
        }
    }

    /// Prints a name that the schema's author chose.
    fn text(&self, text: &str) -> Expression {
        match self.budget.spend_text(text) {
            true => Expression::one(text),
            false => Expression::one(CUT),
        }
    }

    fn literals(&self, literals: &[Literal], detail: Detail) -> Expression {
        let mut is_cut = false;
        let listed = literals
            .iter()
            .map(|literal| json_expression(&literal.value));
        let listed = listed.take_while(|text| {
            is_cut = !self.budget.spend_text(text);
            !is_cut
        });
        let expression = Expression::any_of(listed, detail.choices);
        match is_cut {
            true => expression.or(CUT),
            false => expression,
        }
    }

    fn tuple(&self, tuple: &TupleType, detail: Detail) -> String {
        let mut items = Vec::new();
        for (index, item) in tuple.items.iter().enumerate() {
            let item = self.ty(item, detail);
            let mark = if index < tuple.min_items { "" } else { "?" };
            items.push(match item.is_union && !mark.is_empty() {
                true => format!("({}){mark}", item.text),
                false => format!("{}{mark}", item.text),
            });
        }
        // Where further items may be anything, the author hardly thought of them.
        if let Some(rest) = tuple.rest.as_ref().filter(|rest| !rest.is_any()) {
            let rest = self.ty(rest, detail);
            items.push(match rest.is_union {
                true => format!("...({})[]", rest.text),
                false => format!("...{}[]", rest.text),
            });
        }
        format!("[{}]", items.join(", "))
    }

    fn object(&self, object: &ObjectType, detail: Detail) -> String {
        let values = match &object.additional {
            Additional::Typed(ty) => Some(ty),
            _ => None,
        };
        if object.fields.is_empty() && values.is_none() {
            return "object".to_owned();
        }
        let Some(inner) = detail.deeper() else {
            return match object.fields.is_empty() {
                true => format!("{{ [name]: {CUT} }}"),
                false => format!("{{ {CUT} }}"),
            };
        };
        let mut members = Vec::new();
        for field in object.required_first() {
            if !self.budget.spend_text(&field.name) {
                members.push(CUT.to_owned());
                break;
            }
            members.push(self.field(field, inner));
        }
        if let Some(ty) = values {
            members.push(format!("[name]: {}", self.ty(ty, inner).text));
        }
        format!("{{ {} }}", members.join(", "))
    }

    fn field(&self, field: &Field, detail: Detail) -> String {
        let mark = match self.shape.is_needed(field) {
            true => "",
            false => "?",
        };
        format!("{}{mark}: {}", field.name, self.ty(&field.ty, detail).text)
    }
}
