//! Unions: simplified as far as that changes nothing.

use serde_json::Value;

use super::{Literal, Type, TypeKind, UnionType, build::Builder, location::Location};

/// How many alternatives a union may have. With more, it is any value.
pub(super) const MAX_VARIANTS: usize = 256;

/// Keywords of alternatives that only say which members must be present together.
const REQUIREMENTS: [&str; 8] = [
    "$comment",
    "dependentRequired",
    "description",
    "maxProperties",
    "minProperties",
    "not",
    "required",
    "title",
];

/// Returns whether an alternative adds nothing to the type that it is an alternative
/// of, as in `anyOf: [{required: ["a"]}, {required: ["b"]}]`.
pub(super) fn only_requires(variant: &Location<'_>) -> bool {
    let members = variant.schema.as_object();
    members.is_some_and(|members| {
        let mut keys = members.keys();
        let has_requirements = ["required", "not"]
            .iter()
            .any(|key| members.contains_key(*key));
        has_requirements && keys.all(|key| REQUIREMENTS.contains(&key.as_str()))
    })
}

impl<'a> Builder<'a> {
    /// Returns the type of values that have a type and are valid for an alternative.
    pub(super) fn one_of(&mut self, base: Type, variants: &[Location<'a>]) -> Type {
        let pointer = base.pointer.clone();
        if variants.len() > MAX_VARIANTS && !variants.iter().all(is_const) {
            return base;
        }
        let variants: Vec<_> = variants.iter().map(|variant| self.ty(variant)).collect();
        if base.is_any() {
            return union(variants, &pointer);
        }
        let mut types = Vec::new();
        for variant in variants {
            if !self.spend(base.size()) {
                return base;
            }
            types.push(self.intersect(base.clone(), variant));
        }
        union(types, &pointer)
    }
}

fn is_const(variant: &Location<'_>) -> bool {
    variant.schema.get("const").is_some()
}

/// Returns the type of values that have one of these types.
pub(super) fn union(types: Vec<Type>, pointer: &str) -> Type {
    let mut union = Union::default();
    for ty in types {
        union.add(ty);
    }
    union.into_type(pointer)
}

#[derive(Default)]
struct Union {
    variants: Vec<Type>,
    is_any: bool,
    is_nullable: bool,
}

impl Union {
    fn add(&mut self, mut ty: Type) {
        self.is_nullable |= ty.is_nullable;
        ty.is_nullable = false;
        match ty.kind {
            TypeKind::Any => self.is_any = true,
            TypeKind::Never => {}
            TypeKind::Null => self.is_nullable = true,
            TypeKind::Union(inner) => inner.variants.into_iter().for_each(|ty| self.add(ty)),
            TypeKind::Literals(literals) => {
                let literals = describe(literals, &ty.annotations);
                self.add_literals(Type {
                    kind: TypeKind::Literals(literals),
                    ..ty
                });
            }
            ref kind if self.variants.iter().any(|known| known.kind == *kind) => {}
            _ => self.variants.push(ty),
        }
    }

    fn add_literals(&mut self, added: Type) {
        let listed = |ty: &&mut Type| matches!(ty.kind, TypeKind::Literals(_));
        let known = self.variants.iter_mut().find(listed);
        match (known.map(|known| &mut known.kind), added.kind) {
            (Some(TypeKind::Literals(known)), TypeKind::Literals(literals)) => {
                known.extend(literals);
            }
            (_, kind) => self.variants.push(Type { kind, ..added }),
        }
    }

    fn into_type(mut self, pointer: &str) -> Type {
        if self.is_any || self.variants.len() > MAX_VARIANTS {
            return Type::new(TypeKind::Any, pointer);
        }
        remove_included(&mut self.variants);
        let (mut ty, is_null) = match self.variants.len() {
            0 if self.is_nullable => (Type::new(TypeKind::Null, pointer), true),
            0 => (Type::new(TypeKind::Never, pointer), false),
            1 => (self.variants.remove(0), false),
            _ => {
                let variants = self.variants;
                let kind = TypeKind::Union(UnionType {
                    variants,
                    tag: None,
                });
                (Type::new(kind, pointer), false)
            }
        };
        ty.is_nullable = self.is_nullable && !is_null;
        ty
    }
}

/// Removes duplicate literals, and what a type beside it includes.
fn remove_included(variants: &mut Vec<Type>) {
    let is_plain = |kind: &TypeKind| match kind {
        TypeKind::Number(number) => *number == <_>::default(),
        _ => false,
    };
    if variants.iter().any(|ty| is_plain(&ty.kind)) {
        variants.retain(|ty| !matches!(ty.kind, TypeKind::Integer(_)));
    }
    for ty in variants {
        if let TypeKind::Literals(literals) = &mut ty.kind {
            let mut seen = std::collections::HashSet::new();
            literals.retain(|literal| seen.insert(literal.value.to_string()));
        }
    }
}

/// Moves what is said about an alternative with one value to that value.
fn describe(mut literals: Vec<Literal>, annotations: &super::Annotations) -> Vec<Literal> {
    if let [literal] = &mut literals[..] {
        literal.title = literal.title.take().or_else(|| annotations.title.clone());
        let description = literal.description.take();
        literal.description = description.or_else(|| annotations.description.clone());
    }
    literals
}

impl Type {
    /// Returns how many types it consists of.
    pub(super) fn size(&self) -> usize {
        let mut size = 1;
        self.for_each_child(&mut |child| size += child.size());
        if let TypeKind::Literals(literals) = &self.kind {
            size += literals
                .iter()
                .map(|it| value_size(&it.value))
                .sum::<usize>();
        }
        size
    }
}

fn value_size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.len(),
        Value::Object(members) => 1 + members.len(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}
