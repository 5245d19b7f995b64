//! Types of strings, numbers, arrays and objects, from their keywords.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    Additional, ArrayType, Bound, Field, NumberType, ObjectType, StringType, TupleType, Type,
    TypeKind, build::Builder, location::Location, union,
};
use crate::{keyword_value::keyword_value, pointer::escape_token, validate::JsonType};

/// Keywords that apply other schemas to the same object, which may name members too.
const APPLICATORS: [&str; 10] = [
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "oneOf",
    "then",
];

type Members = Map<String, Value>;

impl<'a> Builder<'a> {
    /// Returns the type of the values of one JSON type.
    pub(super) fn of_json_type(
        &mut self,
        json_type: JsonType,
        members: &'a Members,
        location: &Location<'a>,
    ) -> Type {
        let kind = match json_type {
            JsonType::Null => TypeKind::Null,
            JsonType::Boolean => TypeKind::Boolean,
            JsonType::Integer => TypeKind::Integer(number_type(members)),
            JsonType::Number => TypeKind::Number(number_type(members)),
            JsonType::String => TypeKind::String(string_type(members)),
            JsonType::Array => self.array_kind(members, location),
            JsonType::Object => TypeKind::Object(self.object_type(members, location)),
        };
        Type::new(kind, &location.pointer)
    }

    fn array_kind(&mut self, members: &'a Members, location: &Location<'a>) -> TypeKind {
        // In older drafts these were `items` and `additionalItems`.
        let is_legacy = keyword_value(members, "items").is_some_and(Value::is_array);
        let (first, rest) = match is_legacy {
            true => ("items", "additionalItems"),
            false => ("prefixItems", "items"),
        };
        let rest = match location.keyword(rest) {
            Some(rest) => self.ty(&rest),
            None => Type::new(TypeKind::Any, &location.pointer),
        };
        let prefix = location.keyword_list(first);
        let (min_items, max_items) = (count(members, "minItems"), count(members, "maxItems"));
        if prefix.is_empty() {
            return TypeKind::Array(ArrayType {
                items: Box::new(rest),
                min_items,
                max_items,
                has_unique_items: keyword_value(members, "uniqueItems") == Some(&Value::Bool(true)),
            });
        }
        let max_items = max_items.and_then(|max| usize::try_from(max).ok());
        let prefix = prefix.iter().take(max_items.unwrap_or(usize::MAX));
        let items: Vec<_> = prefix.map(|item| self.ty(item)).collect();
        let is_full = max_items.is_some_and(|max| max <= items.len());
        let min_items = min_items.and_then(|min| usize::try_from(min).ok());
        TypeKind::Tuple(TupleType {
            min_items: min_items.unwrap_or_default().min(items.len()),
            items,
            rest: (!is_full && rest.kind != TypeKind::Never).then(|| Box::new(rest)),
        })
    }

    fn object_type(&mut self, members: &'a Members, location: &Location<'a>) -> ObjectType {
        let properties = keyword_value(members, "properties").and_then(Value::as_object);
        let required = required_positions(members);
        let mut fields = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            let path = format!("/properties/{}", escape_token(name));
            let position = required.get(name.as_str()).copied();
            fields.push(Field {
                name: name.clone(),
                ty: self.ty(&location.child(&path, schema)),
                is_required: position.is_some(),
                required_position: position,
            });
        }
        let additional = self.additional(members, location);
        let is_declared = |name: &str| properties.is_some_and(|known| known.contains_key(name));
        let mut undeclared: Vec<_> = required.into_iter().collect();
        undeclared.retain(|(name, _)| !is_declared(name));
        undeclared.sort_by_key(|(_, position)| *position);
        for (name, position) in undeclared {
            fields.push(Field {
                name: name.to_owned(),
                ty: self.additional_type(&additional, location),
                is_required: true,
                required_position: Some(position),
            });
        }
        ObjectType { fields, additional }
    }

    /// Returns the type of a member that is required but not declared.
    fn additional_type(&mut self, additional: &Additional, location: &Location<'a>) -> Type {
        match additional {
            Additional::Typed(ty) if self.spend(ty.size()) => Type::clone(ty),
            _ => Type::new(TypeKind::Any, &location.pointer),
        }
    }

    /// Returns what members there may be that the schema does not name.
    fn additional(&mut self, members: &'a Members, location: &Location<'a>) -> Additional {
        let patterns = keyword_value(members, "patternProperties").and_then(Value::as_object);
        let mut types = Vec::new();
        for (pattern, schema) in patterns.into_iter().flatten() {
            let path = format!("/patternProperties/{}", escape_token(pattern));
            types.push(self.ty(&location.child(&path, schema)));
        }
        // Other schemas for the same object may evaluate members.
        let is_alone = !APPLICATORS.iter().any(|key| members.contains_key(*key));
        let unevaluated = location.keyword("unevaluatedProperties");
        let others = location.keyword("additionalProperties");
        match others.or_else(|| unevaluated.clone().filter(|_| is_alone)) {
            Some(others) => types.push(self.ty(&others)),
            None if unevaluated.is_some() => return Additional::Any,
            None if types.is_empty() => return Additional::Unstated,
            None => return Additional::Any,
        }
        let union = union::union(types, &location.pointer);
        match union.kind {
            TypeKind::Never => Additional::Forbidden,
            TypeKind::Any => Additional::Any,
            _ => Additional::Typed(Box::new(union)),
        }
    }
}

/// Returns the names of the required members, and their positions in the list.
fn required_positions(members: &Members) -> HashMap<&str, usize> {
    let names = keyword_value(members, "required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let mut positions = HashMap::new();
    for (position, name) in names.enumerate() {
        positions.entry(name).or_insert(position);
    }
    positions
}

fn string_type(members: &Members) -> StringType {
    let text = |key: &str| {
        keyword_value(members, key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    StringType {
        min_length: count(members, "minLength"),
        max_length: count(members, "maxLength"),
        pattern: text("pattern"),
        format: text("format"),
    }
}

fn number_type(members: &Members) -> NumberType {
    let number = |key: &str| match keyword_value(members, key) {
        Some(Value::Number(number)) => Some(number.clone()),
        _ => None,
    };
    let bound = |inclusive: &str, exclusive: &str| {
        // In the oldest draft, the exclusive keyword was a flag.
        let flag = keyword_value(members, exclusive) == Some(&Value::Bool(true));
        let inclusive = number(inclusive).map(|value| Bound {
            value,
            is_exclusive: flag,
        });
        let exclusive = number(exclusive).map(|value| Bound {
            value,
            is_exclusive: true,
        });
        inclusive.or(exclusive)
    };
    NumberType {
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: number("multipleOf"),
    }
}

/// Returns a number of characters or items. It may be written as `2.0`.
fn count(members: &Members, key: &str) -> Option<u64> {
    let value = keyword_value(members, key)?;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let is_count = number.fract() == 0.0 && (0.0..9e15).contains(&number);
        // A whole number in this range is a `u64`.
        is_count
            .then(|| format!("{number:.0}").parse().ok())
            .flatten()
    })
}
