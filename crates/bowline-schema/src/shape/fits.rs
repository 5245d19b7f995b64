//! Whether a value is what a person may mean by a type.

use std::{cell::Cell, cmp::Ordering, collections::HashSet, iter};

use serde_json::{Map, Number, Value};

use super::{
    Additional, ArrayType, Field, NumberType, ObjectType, Shape, StringType, TupleType, Type,
    TypeKind,
};
use crate::validate::equal::{compare, is_integer, json_equal};

/// How many types are compared with values. Alternatives within alternatives multiply.
const MAX_STEPS: usize = 10_000;
/// How deep values are compared, so the stack suffices.
const MAX_DEPTH: usize = 128;

impl Shape {
    /// Returns whether a person may mean a value of a type by this value.
    ///
    /// This is for choosing an interpretation of what was typed, not for validation. A
    /// member that the schema does not name counts as a mistake, unless the schema says
    /// that there may be others; one that has a default may be absent. Patterns and
    /// formats are not compared. What would take too long to compare fits.
    ///
    /// ```
    /// use bowline_schema::shape::Shape;
    /// use serde_json::json;
    ///
    /// let shape = Shape::new(json!({"properties": {"seats": {"type": "integer"}}}));
    /// assert!(shape.fits(shape.root(), &json!({"seats": 2})));
    /// assert!(!shape.fits(shape.root(), &json!({"seats": "two"})));
    /// assert!(!shape.fits(shape.root(), &json!({"seat": 2})));
    /// ```
    #[must_use]
    pub fn fits(&self, ty: &Type, value: &Value) -> bool {
        Fit::new(self).ty(ty, value, MAX_DEPTH)
    }

    /// Returns how many members of an object do not fit: they are missing, unknown, or
    /// have another type. See [`fits`](Self::fits).
    #[must_use]
    pub fn count_misfits(&self, object: &ObjectType, members: &Map<String, Value>) -> usize {
        let fit = Fit::new(self);
        fit.misfits(object, members, MAX_DEPTH).count()
    }
}

/// A comparison, and how many steps it may still take.
struct Fit<'a> {
    shape: &'a Shape,
    remaining: Cell<usize>,
}

impl<'a> Fit<'a> {
    fn new(shape: &'a Shape) -> Self {
        Self {
            shape,
            remaining: Cell::new(MAX_STEPS),
        }
    }

    fn spend(&self, steps: usize) -> bool {
        let remaining = self.remaining.get().checked_sub(steps);
        self.remaining.set(remaining.unwrap_or_default());
        remaining.is_some()
    }

    fn ty(&self, ty: &Type, value: &Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.spend(1)) else {
            return true;
        };
        let variants = self.shape.variants(ty);
        if value.is_null() && variants.is_nullable {
            return true;
        }
        let mut types = variants.types.iter().map(|ty| self.shape.resolve(ty));
        types.any(|ty| self.kind(&ty.kind, value, depth)) || !variants.is_complete
    }

    fn kind(&self, kind: &TypeKind, value: &Value, depth: usize) -> bool {
        match (kind, value) {
            // A reference that only leads to itself says nothing.
            (TypeKind::Any | TypeKind::Reference(_) | TypeKind::Union(_), _) => true,
            (TypeKind::Literals(literals), value) => literals
                .iter()
                .any(|literal| json_equal(&literal.value, value)),
            (TypeKind::Null, Value::Null) | (TypeKind::Boolean, Value::Bool(_)) => true,
            (TypeKind::Integer(range), Value::Number(number)) => {
                is_integer(number) && range.includes(number)
            }
            (TypeKind::Number(range), Value::Number(number)) => range.includes(number),
            (TypeKind::String(string), Value::String(text)) => string.allows_length_of(text),
            (TypeKind::Array(array), Value::Array(items)) => self.array(array, items, depth),
            (TypeKind::Tuple(tuple), Value::Array(items)) => self.tuple(tuple, items, depth),
            (TypeKind::Object(object), Value::Object(members)) => {
                self.misfits(object, members, depth).next().is_none()
            }
            _ => false,
        }
    }

    fn array(&self, array: &ArrayType, items: &[Value], depth: usize) -> bool {
        allows_count(array.min_items, array.max_items, items.len())
            && items.iter().all(|item| self.ty(&array.items, item, depth))
    }

    fn tuple(&self, tuple: &TupleType, items: &[Value], depth: usize) -> bool {
        let rest = iter::repeat_with(|| tuple.rest.as_deref());
        let types = tuple.items.iter().map(Some).chain(rest);
        items.len() >= tuple.min_items
            && types
                .zip(items)
                .all(|(ty, item)| ty.is_some_and(|ty| self.ty(ty, item, depth)))
    }

    /// Returns the names of members that do not fit.
    fn misfits<'m>(
        &'m self,
        object: &'m ObjectType,
        members: &'m Map<String, Value>,
        depth: usize,
    ) -> impl Iterator<Item = &'m str> {
        let is_misfit = move |field: &&Field| match members.get(&field.name) {
            Some(value) => !self.ty(&field.ty, value, depth),
            None => self.shape.is_needed(field),
        };
        let fields = object.fields.iter().take_while(|_| self.spend(1));
        let fields = fields.filter(is_misfit).map(|field| field.name.as_str());
        let names = object.fields.iter().map(|field| field.name.as_str());
        let known: HashSet<&str> = names.collect();
        let others = members.iter();
        let others = others.filter(move |(name, _)| !known.contains(name.as_str()));
        let others = others.filter(move |(_, value)| match &object.additional {
            Additional::Forbidden => true,
            Additional::Unstated => !object.fields.is_empty(),
            Additional::Any => false,
            Additional::Typed(ty) => !self.ty(ty, value, depth),
        });
        fields.chain(others.map(|(name, _)| name.as_str()))
    }
}

impl NumberType {
    fn includes(&self, number: &Number) -> bool {
        let is_beyond = |bound: &super::Bound, ordering: Ordering| {
            let compared = compare(number, &bound.value);
            compared == ordering || (compared.is_eq() && bound.is_exclusive)
        };
        let is_below = |bound| is_beyond(bound, Ordering::Less);
        let is_above = |bound| is_beyond(bound, Ordering::Greater);
        !self.minimum.as_ref().is_some_and(is_below) && !self.maximum.as_ref().is_some_and(is_above)
    }
}

impl StringType {
    fn allows_length_of(&self, text: &str) -> bool {
        (self.min_length.is_none() && self.max_length.is_none())
            || allows_count(self.min_length, self.max_length, text.chars().count())
    }
}

fn allows_count(min: Option<u64>, max: Option<u64>, count: usize) -> bool {
    let count = count as u64;
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Shape;
    use crate::shape::TypeKind;

    #[track_caller]
    fn check(schema: Value, cases: &[(Value, bool)]) {
        let shape = Shape::new(schema);
        for (value, expected) in cases {
            assert_eq!(shape.fits(shape.root(), value), *expected, "{value}");
        }
    }

    #[test]
    fn values_fit_by_type_and_range() {
        check(
            json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
            &[
                (json!(1), true),
                (json!(2.0), true),
                (json!(0), false),
                (json!(9), false),
                (json!(1.5), false),
                (json!("1"), false),
            ],
        );
        check(
            json!({"type": ["string", "null"], "minLength": 2, "maxLength": 3}),
            &[
                (json!("é"), false),
                (json!("éé"), true),
                (json!(null), true),
            ],
        );
        check(
            json!({"items": {"enum": ["a", 1]}, "maxItems": 2}),
            &[
                (json!(["a", 1.0]), true),
                (json!(["b"]), false),
                (json!(["a", "a", "a"]), false),
            ],
        );
        check(
            json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 1}),
            &[
                (json!(["a", 1, 2]), true),
                (json!([]), false),
                (json!(["a", "b"]), false),
            ],
        );
    }

    #[test]
    fn names_must_be_known_and_defaults_may_be_absent() {
        let schema = |more: Value| {
            let mut schema = json!({
                "properties": {"a": {"type": "string"}, "b": {"default": 1}},
                "required": ["a", "b"],
            });
            schema["additionalProperties"] = more;
            schema
        };
        let more = json!({"a": "x", "more": 1});
        check(
            schema(json!(false)),
            &[(json!({"a": "x"}), true), (more.clone(), false)],
        );
        check(schema(json!({"type": "string"})), &[(more.clone(), false)]);
        check(schema(json!({"type": "integer"})), &[(more.clone(), true)]);
        check(json!({"properties": {"a": {}}}), &[(more.clone(), false)]);
        check(json!({"type": "object"}), &[(more, true)]);
    }

    #[test]
    fn misfits_are_counted() {
        let shape = Shape::new(json!({
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {}},
            "required": ["a", "c"],
        }));
        let TypeKind::Object(object) = &shape.root().kind else {
            panic!("{:?}", shape.root());
        };
        let value = json!({"a": 1, "b": "x", "d": 1});
        let members = value.as_object().expect("an object");
        assert_eq!(shape.count_misfits(object, members), 3);
    }

    #[test]
    fn alternatives_within_alternatives_are_not_compared_for_ever() {
        let variant =
            |kind: usize| json!({"properties": {"a": {"$ref": "#"}, "kind": {"const": kind}}});
        let shape = Shape::new(json!({"anyOf": (0..40).map(variant).collect::<Vec<_>>()}));
        let value = (0..20).fold(json!({"kind": 99}), |inner, _| json!({"a": inner}));
        assert!(shape.fits(shape.root(), &value));
        let circle = Shape::new(json!({"$ref": "#"}));
        assert!(circle.fits(circle.root(), &json!(1)));
        check(
            json!({"items": {"$ref": "#"}}),
            &[(json!([[], [[]]]), true), (json!([[1]]), false)],
        );
    }
}
