//! The arguments that a schema takes.

use std::collections::HashMap;

use bowline_schema::shape::{Field, Shape, Type, TypeKind};

/// An argument.
#[derive(Clone, Debug)]
pub(crate) struct Parameter<'a> {
    pub(crate) name: &'a str,
    /// Its type; several, if the schema has alternatives that differ in it.
    pub(crate) types: Vec<&'a Type>,
    /// Whether every alternative lists it as required.
    pub(crate) is_required: bool,
    /// Whether it must be given: a required one that has a default need not be.
    pub(crate) is_needed: bool,
}

impl<'a> Parameter<'a> {
    fn new(field: &'a Field, shape: &Shape) -> Self {
        Self {
            name: &field.name,
            types: vec![&field.ty],
            is_required: field.is_required,
            is_needed: shape.is_needed(field),
        }
    }

    fn merge(&mut self, other: Self) {
        let is_same = |one: &Type, other: &Type| {
            one.kind == other.kind && one.is_nullable == other.is_nullable
        };
        for ty in other.types {
            if !self.types.iter().any(|known| is_same(known, ty)) {
                self.types.push(ty);
            }
        }
        self.is_required &= other.is_required;
        self.is_needed &= other.is_needed;
    }
}

/// Returns the arguments of all alternatives that a schema has: those that all
/// of them require come first.
pub(crate) fn parameters(shape: &Shape) -> Vec<Parameter<'_>> {
    let variants = shape.variants(shape.root()).types.into_iter();
    let objects = variants.filter_map(|ty| match &shape.resolve(ty).kind {
        TypeKind::Object(object) => Some(object),
        _ => None,
    });
    let objects: Vec<_> = objects.collect();
    let mut positions = HashMap::new();
    let mut found: Vec<(usize, Parameter<'_>)> = Vec::new();
    for field in objects.iter().flat_map(|object| object.required_first()) {
        let parameter = Parameter::new(field, shape);
        let position = *positions.entry(&field.name).or_insert(found.len());
        match found.get_mut(position) {
            Some((count, known)) => {
                *count += 1;
                known.merge(parameter);
            }
            None => found.push((1, parameter)),
        }
    }
    let found = found.into_iter().map(|(count, parameter)| {
        let is_everywhere = count == objects.len();
        Parameter {
            is_required: parameter.is_required && is_everywhere,
            is_needed: parameter.is_needed && is_everywhere,
            ..parameter
        }
    });
    let mut parameters: Vec<_> = found.collect();
    parameters.sort_by_key(|parameter| !parameter.is_required);
    parameters
}

#[cfg(test)]
mod tests {
    use bowline_schema::shape::Shape;
    use serde_json::{Value, json};

    use super::parameters;

    #[track_caller]
    fn check(schema: Value, expected: &[&str]) {
        let shape = Shape::new(schema);
        let found = parameters(&shape).into_iter().map(|parameter| {
            let mark = match (parameter.is_required, parameter.is_needed) {
                (_, true) => "",
                (true, false) => "(default)",
                (false, false) => "?",
            };
            format!("{}{mark} {}", parameter.name, parameter.types.len())
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_required_comes_first() {
        check(
            json!({
                "properties": {"z": {}, "y": {"default": 1}, "a": {}}, "required": ["a", "y", "m"],
                "allOf": [{"$ref": "#/$defs/More"}],
                "$defs": {"More": {"properties": {"m": {}, "b": {}}}}
            }),
            &["a 1", "y(default) 1", "m 1", "z? 1", "b? 1"],
        );
    }

    #[test]
    fn the_arguments_of_alternatives_are_put_together() {
        let cat =
            json!({"properties": {"kind": {"const": "cat"}, "lives": {}}, "required": ["kind"]});
        let dog = json!({"properties": {"age": {}, "kind": {"const": "dog"}}, "required": ["kind", "age"]});
        check(
            json!({
                "properties": {"name": {"type": "string"}},
                "oneOf": [cat, {"$ref": "#/$defs/Dog"}],
                "$defs": {"Dog": dog}
            }),
            &["kind 2", "name? 1", "lives? 1", "age? 1"],
        );
    }

    #[test]
    fn what_is_no_object_has_no_arguments() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": "string"}),
            json!({"$ref": "#"}),
        ] {
            check(schema, &[]);
        }
    }
}
