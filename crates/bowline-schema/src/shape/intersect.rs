//! Types of values that have two types at once, as parts of `allOf` describe them.

use std::{cmp::Ordering, collections::HashMap};

use super::{
    Additional, ArrayType, Bound, Field, NumberType, ObjectType, StringType, TupleType, Type,
    TypeKind, build::Builder, union,
};
use crate::validate::equal::{compare, json_equal};

impl Builder<'_> {
    /// Returns the type of values that have both types. It may include more where two
    /// restrictions cannot be merged, but excludes no value that has both.
    pub(super) fn intersect(&mut self, one: Type, other: Type) -> Type {
        if other.is_any() || one.kind == TypeKind::Never {
            return with_annotations(one, other);
        }
        if one.is_any() || other.kind == TypeKind::Never {
            return with_annotations(other, one);
        }
        if one.kind == other.kind && one.is_nullable == other.is_nullable {
            return with_annotations(one, other);
        }
        if matches!(one.kind, TypeKind::Reference(_))
            || matches!(other.kind, TypeKind::Reference(_))
        {
            return self.intersect_expanded(one, other);
        }
        let accepts_null = one.accepts_null() && other.accepts_null();
        let pointer = one.pointer.clone();
        let annotations = one.annotations.clone().or(other.annotations.clone());
        let kind = self.intersect_kinds(one.kind, other.kind);
        let mut ty = Type::new(kind, &pointer);
        ty.annotations = annotations;
        if accepts_null && !ty.accepts_null() {
            match ty.kind {
                TypeKind::Never => ty.kind = TypeKind::Null,
                _ => ty.is_nullable = true,
            }
        }
        ty
    }

    /// Spells out references first. They may lead back here, so the depth is limited.
    fn intersect_expanded(&mut self, one: Type, other: Type) -> Type {
        if !self.enter() {
            // Either of the two types includes all values that have both.
            return with_annotations(one, other);
        }
        let (one, other) = (self.expand(one), self.expand(other));
        let ty = self.intersect(one, other);
        self.leave();
        ty
    }

    /// Spells out a type that is a reference.
    fn expand(&mut self, ty: Type) -> Type {
        let TypeKind::Reference(id) = ty.kind else {
            return ty;
        };
        let location = self.location_of(id);
        if self.expanding.contains(&id) {
            // A type that consists of itself and nothing else allows everything.
            return Type::new(TypeKind::Any, &ty.pointer);
        }
        self.expanding.push(id);
        let target = self.inline(&location);
        let mut target = self.expand(target);
        self.expanding.pop();
        target.is_nullable |= ty.is_nullable && !target.accepts_null();
        with_annotations(ty.annotations_only(), target)
    }

    fn intersect_kinds(&mut self, one: TypeKind, other: TypeKind) -> TypeKind {
        match (one, other) {
            (TypeKind::Union(union), other) | (other, TypeKind::Union(union)) => {
                self.intersect_each(union.variants, &other)
            }
            (TypeKind::Literals(mut literals), other)
            | (other, TypeKind::Literals(mut literals)) => {
                literals.retain(|literal| match &other {
                    TypeKind::Literals(others) => others
                        .iter()
                        .any(|it| json_equal(&it.value, &literal.value)),
                    other => other.includes_type_of(&literal.value),
                });
                match literals.is_empty() {
                    true => TypeKind::Never,
                    false => TypeKind::Literals(literals),
                }
            }
            (TypeKind::Integer(one), TypeKind::Integer(other) | TypeKind::Number(other))
            | (TypeKind::Number(one), TypeKind::Integer(other)) => {
                TypeKind::Integer(one.and(other))
            }
            (TypeKind::Number(one), TypeKind::Number(other)) => TypeKind::Number(one.and(other)),
            (TypeKind::String(one), TypeKind::String(other)) => TypeKind::String(one.and(other)),
            (TypeKind::Array(one), TypeKind::Array(other)) => {
                TypeKind::Array(self.intersect_arrays(one, other))
            }
            (TypeKind::Tuple(tuple), TypeKind::Array(array))
            | (TypeKind::Array(array), TypeKind::Tuple(tuple)) => {
                TypeKind::Tuple(tuple.with_min_items(&array))
            }
            (tuple @ TypeKind::Tuple(_), TypeKind::Tuple(_)) => tuple,
            (TypeKind::Object(one), TypeKind::Object(other)) => {
                TypeKind::Object(self.intersect_objects(one, other))
            }
            (one, other) if one == other => one,
            _ => TypeKind::Never,
        }
    }

    /// Applies a type to each variant of a union.
    fn intersect_each(&mut self, variants: Vec<Type>, other: &TypeKind) -> TypeKind {
        let others = match other {
            TypeKind::Union(union) => union.variants.len(),
            _ => 1,
        };
        let size = Type::new(other.clone(), "").size();
        if variants.len() * others > union::MAX_VARIANTS || !self.spend(size * variants.len()) {
            // Either of the two types includes all values that have both.
            return other.clone();
        }
        let mut types = Vec::new();
        for variant in variants {
            let other = Type::new(other.clone(), &variant.pointer);
            types.push(self.intersect(variant, other));
        }
        union::union(types, "").kind
    }

    fn intersect_arrays(&mut self, one: ArrayType, other: ArrayType) -> ArrayType {
        ArrayType {
            items: Box::new(self.intersect(*one.items, *other.items)),
            min_items: one.min_items.max(other.min_items),
            max_items: smaller(one.max_items, other.max_items),
            has_unique_items: one.has_unique_items || other.has_unique_items,
        }
    }

    fn intersect_objects(&mut self, one: ObjectType, other: ObjectType) -> ObjectType {
        // What one of them requires comes first, then what the other requires.
        let positions = one
            .fields
            .iter()
            .filter_map(|field| field.required_position);
        let offset = positions.max().map_or(0, |last| last + 1);
        let others = other.fields.into_iter().map(|field| Field {
            required_position: field.required_position.map(|position| position + offset),
            ..field
        });
        let mut others: Vec<Option<Field>> = others.map(Some).collect();
        let positions = others.iter().enumerate().filter_map(|(at, field)| {
            let field = field.as_ref()?;
            Some((field.name.clone(), at))
        });
        let positions: HashMap<String, usize> = positions.collect();
        let mut fields = Vec::new();
        for field in one.fields {
            let position = positions.get(&field.name);
            let same = position.and_then(|at| others[*at].take());
            fields.push(match same {
                Some(same) => self.intersect_fields(field, same),
                None => self.restrict(field, &other.additional),
            });
        }
        for field in others.into_iter().flatten() {
            fields.push(self.restrict(field, &one.additional));
        }
        ObjectType {
            fields,
            additional: self.intersect_additional(one.additional, other.additional),
        }
    }

    fn intersect_fields(&mut self, one: Field, other: Field) -> Field {
        Field {
            name: one.name,
            ty: self.intersect(one.ty, other.ty),
            is_required: one.is_required || other.is_required,
            required_position: one.required_position.or(other.required_position),
        }
    }

    /// Applies what an object says about members that it does not name. A member that
    /// it forbids is kept: its author did mean it, and it does no harm.
    fn restrict(&mut self, field: Field, additional: &Additional) -> Field {
        let Additional::Typed(ty) = additional else {
            return field;
        };
        if !self.spend(ty.size()) {
            return field;
        }
        Field {
            ty: self.intersect(field.ty, Type::clone(ty)),
            ..field
        }
    }

    fn intersect_additional(&mut self, one: Additional, other: Additional) -> Additional {
        match (one, other) {
            (Additional::Forbidden, _) | (_, Additional::Forbidden) => Additional::Forbidden,
            (Additional::Typed(one), Additional::Typed(other)) => {
                Additional::Typed(Box::new(self.intersect(*one, *other)))
            }
            (Additional::Typed(ty), _) | (_, Additional::Typed(ty)) => Additional::Typed(ty),
            (Additional::Any, _) | (_, Additional::Any) => Additional::Any,
            (Additional::Unstated, Additional::Unstated) => Additional::Unstated,
        }
    }
}

impl Type {
    fn annotations_only(self) -> Self {
        Self {
            annotations: self.annotations,
            ..Self::new(TypeKind::Any, &self.pointer)
        }
    }
}

fn with_annotations(ty: Type, other: Type) -> Type {
    if ty.is_any() && !other.is_any() {
        return Type {
            annotations: ty.annotations.or(other.annotations),
            ..other
        };
    }
    Type {
        annotations: ty.annotations.or(other.annotations),
        ..ty
    }
}

impl TupleType {
    fn with_min_items(self, array: &ArrayType) -> Self {
        let min = array.min_items.and_then(|min| usize::try_from(min).ok());
        Self {
            min_items: self
                .min_items
                .max(min.unwrap_or_default())
                .min(self.items.len()),
            ..self
        }
    }
}

impl NumberType {
    fn and(self, other: Self) -> Self {
        Self {
            minimum: tighter(self.minimum, other.minimum, Ordering::Greater),
            maximum: tighter(self.maximum, other.maximum, Ordering::Less),
            multiple_of: self.multiple_of.or(other.multiple_of),
        }
    }
}

impl StringType {
    fn and(self, other: Self) -> Self {
        Self {
            min_length: self.min_length.max(other.min_length),
            max_length: smaller(self.max_length, other.max_length),
            pattern: self.pattern.or(other.pattern),
            format: self.format.or(other.format),
        }
    }
}

fn smaller(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns the bound that excludes more: the one that compares this way to the other.
fn tighter(one: Option<Bound>, other: Option<Bound>, ordering: Ordering) -> Option<Bound> {
    let (Some(first), Some(second)) = (&one, &other) else {
        return one.or(other);
    };
    let compared = compare(&first.value, &second.value);
    match compared == ordering || (compared.is_eq() && first.is_exclusive) {
        true => one,
        false => other,
    }
}
