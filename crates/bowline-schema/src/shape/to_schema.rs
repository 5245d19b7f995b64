//! From types back to a schema.

use serde_json::{Map, Value, json};

use super::{
    Additional, ArrayType, Bound, Field, NumberType, ObjectType, Shape, StringType, TupleType,
    Type, TypeKind,
};
use crate::validate::pattern::Pattern;

impl Shape {
    /// Returns a schema for the types alone: with references only into `$defs`, without
    /// `allOf`, and without anything that is not valid in draft 2020-12 or that a
    /// [`Validator`](crate::Validator) does not support.
    ///
    /// For schemas that cannot be compiled as they are: what is wrong with them is left
    /// out. It accepts every value that the types include.
    ///
    /// ```
    /// use bowline_schema::{Validator, shape::Shape};
    /// use serde_json::json;
    ///
    /// let schema = json!({
    ///     "properties": {"size": {"type": "integer"}, "at": {"$ref": "https://example.com/"}},
    ///     "required": ["size"],
    /// });
    /// assert!(Validator::new(&schema).is_err());
    /// let validator = Validator::new(&Shape::new(schema).to_schema())?;
    /// assert!(validator.is_valid(&json!({"size": 1, "at": "home"})));
    /// assert!(!validator.is_valid(&json!({"size": "large"})));
    /// # Ok::<(), bowline_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn to_schema(&self) -> Value {
        let mut root = match self.schema_of(&self.root) {
            Value::Object(members) => members,
            Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
            _ => Map::new(),
        };
        if !self.definitions.is_empty() {
            let definitions = self.definitions.iter();
            let definitions = definitions.map(|it| (it.name.clone(), self.schema_of(&it.ty)));
            root.insert("$defs".to_owned(), definitions.collect());
        }
        Value::Object(root)
    }

    fn schema_of(&self, ty: &Type) -> Value {
        let schema = match self.kind_schema(&ty.kind) {
            Value::Object(members) if ty.is_nullable => {
                Members::default().with("anyOf", Some(json!([members, {"type": "null"}])))
            }
            Value::Object(members) => Members(members),
            other => return other,
        };
        let annotations = &ty.annotations;
        let schema = schema
            .with("title", annotations.title.clone())
            .with("description", annotations.description.clone())
            .with("default", annotations.default.clone());
        Value::Object(schema.0)
    }

    fn kind_schema(&self, kind: &TypeKind) -> Value {
        let members = match kind {
            TypeKind::Any => Members::default(),
            TypeKind::Never => return Value::Bool(false),
            TypeKind::Null => Members::typed("null"),
            TypeKind::Boolean => Members::typed("boolean"),
            TypeKind::Integer(range) => range_schema("integer", range),
            TypeKind::Number(range) => range_schema("number", range),
            TypeKind::String(string) => string_schema(string),
            TypeKind::Literals(literals) => {
                let values = literals.iter().map(|literal| literal.value.clone());
                Members::default().with("enum", Some(values.collect::<Value>()))
            }
            TypeKind::Array(array) => self.array_schema(array),
            TypeKind::Tuple(tuple) => self.tuple_schema(tuple),
            TypeKind::Object(object) => self.object_schema(object),
            TypeKind::Union(union) => {
                let variants = union.variants.iter().map(|variant| self.schema_of(variant));
                Members::default().with("anyOf", Some(variants.collect::<Value>()))
            }
            TypeKind::Reference(id) => {
                let definition = self.definition(*id);
                match self.resolve(&definition.ty).kind {
                    // It only leads to itself.
                    TypeKind::Reference(_) => Members::default(),
                    _ => Members::default().with("$ref", Some(reference_to(&definition.name))),
                }
            }
        };
        Value::Object(members.0)
    }

    fn array_schema(&self, array: &ArrayType) -> Members {
        Members::typed("array")
            .with("items", Some(self.schema_of(&array.items)))
            .with("minItems", array.min_items)
            .with("maxItems", array.max_items)
            .with("uniqueItems", array.has_unique_items.then_some(true))
    }

    fn tuple_schema(&self, tuple: &TupleType) -> Members {
        let items = tuple.items.iter().map(|item| self.schema_of(item));
        let rest = tuple.rest.as_ref().map(|rest| self.schema_of(rest));
        Members::typed("array")
            .with("prefixItems", Some(items.collect::<Value>()))
            .with("items", Some(rest.unwrap_or(Value::Bool(false))))
            .with("minItems", Some(tuple.min_items))
    }

    fn object_schema(&self, object: &ObjectType) -> Members {
        let properties = object.fields.iter();
        let properties = properties.map(|field| (field.name.clone(), self.schema_of(&field.ty)));
        let required = object.required_first().into_iter();
        let required = required.filter(|field: &&Field| field.is_required);
        let required: Vec<_> = required.map(|field| field.name.as_str()).collect();
        let additional = match &object.additional {
            Additional::Forbidden => Some(Value::Bool(false)),
            Additional::Unstated => None,
            Additional::Any => Some(Value::Bool(true)),
            Additional::Typed(ty) => Some(self.schema_of(ty)),
        };
        Members::typed("object")
            .with("properties", Some(properties.collect::<Value>()))
            .with("required", (!required.is_empty()).then_some(required))
            .with("additionalProperties", additional)
    }
}

/// The members of a schema.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn typed(name: &str) -> Self {
        Self::default().with("type", Some(name))
    }

    fn with(mut self, key: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value.into());
        }
        self
    }

    fn with_bound(self, inclusive: &str, exclusive: &str, bound: Option<&Bound>) -> Self {
        let Some(bound) = bound else {
            return self;
        };
        let key = if bound.is_exclusive {
            exclusive
        } else {
            inclusive
        };
        self.with(key, Some(Value::Number(bound.value.clone())))
    }
}

fn range_schema(name: &str, range: &NumberType) -> Members {
    let is_valid = |number: &&serde_json::Number| number.as_f64().is_some_and(|it| it > 0.0);
    let multiple_of = range.multiple_of.as_ref().filter(is_valid);
    Members::typed(name)
        .with_bound("minimum", "exclusiveMinimum", range.minimum.as_ref())
        .with_bound("maximum", "exclusiveMaximum", range.maximum.as_ref())
        .with("multipleOf", multiple_of.cloned().map(Value::Number))
}

fn string_schema(string: &StringType) -> Members {
    let pattern = string.pattern.as_deref();
    let pattern = pattern.filter(|pattern| Pattern::new(pattern).is_ok());
    Members::typed("string")
        .with("minLength", string.min_length)
        .with("maxLength", string.max_length)
        .with("pattern", pattern)
        .with("format", string.format.clone())
}

/// Returns a reference to a definition: a JSON Pointer, in a URI.
fn reference_to(name: &str) -> String {
    let mut reference = "#/$defs/".to_owned();
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b'~' => {
                reference.push(char::from(byte));
            }
            other => reference.push_str(&format!("%{other:02X}")),
        }
    }
    reference
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Shape;
    use crate::Validator;

    #[track_caller]
    fn check(schema: Value, expected: &Value) {
        assert_eq!(Shape::new(schema).to_schema(), *expected);
    }

    #[test]
    fn what_is_plain_stays_as_it_is() {
        for schema in [
            json!({}),
            json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}),
            json!({"type": "string", "minLength": 1, "pattern": "^a", "format": "date", "default": "a"}),
            json!({"enum": ["a", 1]}),
            json!({"type": "array", "items": {"type": "null"}, "maxItems": 2, "uniqueItems": true}),
            json!({"type": "array", "prefixItems": [{"type": "boolean"}], "items": false, "minItems": 1}),
            json!({
                "type": "object",
                "properties": {"a": {"type": "string", "description": "An a"}, "b": {"$ref": "#/$defs/B"}},
                "required": ["b"],
                "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "$defs": {"B": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}}},
            }),
        ] {
            check(schema.clone(), &schema);
        }
    }

    #[test]
    fn what_is_wrong_or_unsupported_is_left_out() {
        check(
            json!({
                "type": "object",
                "properties": {
                    "mail": {"type": "string", "pattern": "^(?!a)"},
                    "far": {"$ref": "https://example.com/far.json"},
                    "odd": {"type": "any", "required": true},
                    "old": {"type": "number", "minimum": 1, "exclusiveMinimum": true, "multipleOf": 0},
                    "all": {"allOf": [{"$ref": "#/$defs/A"}, {"type": ["integer", "null"]}]},
                    "loop": {"$ref": "#/$defs/L"},
                },
                "$defs": {"A": {"minimum": 3, "type": ["integer", "null"]}, "L": {"$ref": "#/$defs/L"}},
            }),
            &json!({
                "type": "object",
                "properties": {
                    "mail": {"type": "string"},
                    "far": {},
                    "odd": {},
                    "old": {"type": "number", "exclusiveMinimum": 1},
                    "all": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
                    "loop": {},
                },
                "$defs": {
                    "A": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
                    "L": {},
                },
            }),
        );
        check(json!(false), &json!({"not": {}}));
    }

    #[test]
    fn definitions_are_found_whatever_their_names() {
        let names = ["a/b", "a~b", "a b", "100%", "é", "#", "?"];
        for name in names {
            let escaped = name
                .replace('~', "~0")
                .replace('/', "~1")
                .replace('%', "%25");
            let escaped = escaped.replace('#', "%23");
            let schema = json!({
                "items": {"$ref": format!("#/$defs/{escaped}")},
                "$defs": {(name): {"type": "string"}},
            });
            let plain = Shape::new(schema).to_schema();
            let validator = Validator::new(&plain).expect("it is valid");
            assert!(validator.is_valid(&json!(["a"])), "{plain}");
            assert!(!validator.is_valid(&json!([1])), "{plain}");
        }
    }
}
