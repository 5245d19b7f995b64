//! Learning a schema from values: names and types of members, never values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// An object with more different members than this is a map: its names are data.
const MAX_FIELDS: usize = 64;
/// The longest name of a member that is still a name.
const MAX_NAME: usize = 64;
/// How deep values are observed. What is deeper is any value.
const MAX_DEPTH: usize = 32;

/// What observed values have in common.
///
/// Only names and types of members are kept. Names that look like data, such as e-mail
/// addresses or numbers, are not: an object with such members is a map.
///
/// ```
/// use bowline_schema::observe::Observer;
/// use serde_json::json;
///
/// let mut observer = Observer::default();
/// observer.observe(&json!({"id": 7, "name": "Ada"}));
/// observer.observe(&json!({"id": 8, "tags": ["new"]}));
/// assert_eq!(
///     observer.to_schema(),
///     json!({
///         "type": "object",
///         "properties": {
///             "id": {"type": "integer"},
///             "name": {"type": "string"},
///             "tags": {"type": "array", "items": {"type": "string"}},
///         },
///         "required": ["id"],
///     })
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observer {
    /// The scalar types seen: `string`, `integer` and so on.
    scalars: BTreeSet<&'static str>,
    array: Option<Box<Self>>,
    object: Option<ObservedObject>,
    /// Whether anything else was seen that is not described.
    is_any: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum ObservedObject {
    Fields {
        fields: BTreeMap<String, Observer>,
        /// The members that every object had.
        required: BTreeSet<String>,
    },
    /// A map, with what its values have in common.
    Map(Box<Observer>),
}

const SCALARS: [&str; 5] = ["boolean", "integer", "null", "number", "string"];

impl Observer {
    /// Continues from what [`to_schema`](Self::to_schema) returned. Of any other schema,
    /// the parts that it would not write are ignored.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Self {
        Self::read(schema, 0)
    }

    fn read(schema: &Value, depth: usize) -> Self {
        let mut observer = Self::default();
        let variants = schema["anyOf"].as_array();
        for schema in variants.unwrap_or(&vec![schema.clone()]) {
            let types = match &schema["type"] {
                Value::Array(types) => types.clone(),
                one => vec![one.clone()],
            };
            for name in types.iter().filter_map(Value::as_str) {
                match name {
                    _ if depth >= MAX_DEPTH => observer.is_any = true,
                    "array" => {
                        let items = Self::read(&schema["items"], depth + 1);
                        observer.array = Some(Box::new(items));
                    }
                    "object" => observer.object = Some(ObservedObject::read(schema, depth + 1)),
                    name => observer
                        .scalars
                        .extend(SCALARS.iter().find(|it| **it == name)),
                }
            }
        }
        observer
    }

    /// Adds a value.
    pub fn observe(&mut self, value: &Value) {
        self.add(value, 0);
    }

    fn add(&mut self, value: &Value, depth: usize) {
        match value {
            _ if depth >= MAX_DEPTH => self.is_any = true,
            Value::Null => drop(self.scalars.insert("null")),
            Value::Bool(_) => drop(self.scalars.insert("boolean")),
            Value::Number(number) if number.is_f64() => drop(self.scalars.insert("number")),
            Value::Number(_) => drop(self.scalars.insert("integer")),
            Value::String(_) => drop(self.scalars.insert("string")),
            Value::Array(items) => {
                let array = self.array.get_or_insert_default();
                items.iter().for_each(|item| array.add(item, depth + 1));
            }
            Value::Object(members) => match &mut self.object {
                Some(object) => object.add(members, depth + 1),
                None => self.object = Some(ObservedObject::new(members, depth + 1)),
            },
        }
    }

    fn merge(&mut self, other: Self) {
        self.is_any |= other.is_any;
        self.scalars.extend(other.scalars);
        match (&mut self.array, other.array) {
            (Some(array), Some(other)) => array.merge(*other),
            (array @ None, other) => *array = other,
            (Some(_), None) => {}
        }
        match (&mut self.object, other.object) {
            (Some(object), Some(other)) => object.merge(other),
            (object @ None, other) => *object = other,
            (Some(_), None) => {}
        }
    }

    /// Returns the schema of what was observed: `true` if that was nothing.
    #[must_use]
    pub fn to_schema(&self) -> Value {
        if self.is_any {
            return Value::Bool(true);
        }
        let mut scalars = self.scalars.clone();
        if scalars.contains("number") {
            scalars.remove("integer");
        }
        let scalars: Vec<_> = scalars.into_iter().collect();
        let mut variants = Vec::new();
        match scalars[..] {
            [] => {}
            [only] => variants.push(json!({"type": only})),
            _ => variants.push(json!({"type": scalars})),
        }
        if let Some(items) = &self.array {
            variants.push(match items.to_schema() {
                Value::Bool(true) => json!({"type": "array"}),
                items => json!({"type": "array", "items": items}),
            });
        }
        variants.extend(self.object.as_ref().map(ObservedObject::to_schema));
        match variants.len() {
            0 => Value::Bool(true),
            1 => variants.remove(0),
            _ => json!({"anyOf": variants}),
        }
    }
}

impl ObservedObject {
    fn new(members: &Map<String, Value>, depth: usize) -> Self {
        let mut object = Self::Fields {
            fields: BTreeMap::new(),
            required: members.keys().cloned().collect(),
        };
        object.add(members, depth);
        object
    }

    fn read(schema: &Value, depth: usize) -> Self {
        if let Some(values) = schema.get("additionalProperties") {
            return Self::Map(Box::new(Observer::read(values, depth)));
        }
        let fields = schema["properties"].as_object();
        let fields = fields.into_iter().flatten();
        let fields = fields.map(|(name, schema)| (name.clone(), Observer::read(schema, depth)));
        let required = schema["required"].as_array();
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Self::Fields {
            fields: fields.collect(),
            required: required.map(str::to_owned).collect(),
        }
    }

    fn add(&mut self, members: &Map<String, Value>, depth: usize) {
        match self {
            Self::Map(values) => {
                members.values().for_each(|value| values.add(value, depth));
            }
            Self::Fields { fields, required } => {
                required.retain(|name| members.contains_key(name));
                for (name, value) in members {
                    fields.entry(name.clone()).or_default().add(value, depth);
                }
            }
        }
        self.collapse();
    }

    fn merge(&mut self, other: Self) {
        match (&mut *self, other) {
            (
                Self::Fields { fields, required },
                Self::Fields {
                    fields: others,
                    required: also,
                },
            ) => {
                required.retain(|name| also.contains(name));
                for (name, other) in others {
                    fields.entry(name).or_default().merge(other);
                }
            }
            (Self::Map(values), other) => values.merge(other.into_values()),
            (_, Self::Map(values)) => {
                let mut values = values;
                let fields = std::mem::replace(self, Self::Map(Box::default()));
                values.merge(fields.into_values());
                *self = Self::Map(values);
            }
        }
        self.collapse();
    }

    /// Turns an object whose names are data into a map.
    fn collapse(&mut self) {
        let Self::Fields { fields, .. } = &*self else {
            return;
        };
        if fields.len() > MAX_FIELDS || !fields.keys().all(|name| is_name(name)) {
            let fields = std::mem::replace(self, Self::Map(Box::default()));
            *self = Self::Map(Box::new(fields.into_values()));
        }
    }

    /// Returns what all members have in common.
    fn into_values(self) -> Observer {
        match self {
            Self::Map(values) => *values,
            Self::Fields { fields, .. } => {
                let mut all = Observer::default();
                fields.into_values().for_each(|field| all.merge(field));
                all
            }
        }
    }

    fn to_schema(&self) -> Value {
        match self {
            Self::Map(values) => {
                json!({"type": "object", "additionalProperties": values.to_schema()})
            }
            Self::Fields { fields, required } => {
                let properties = fields.iter();
                let properties = properties.map(|(name, field)| (name.clone(), field.to_schema()));
                let properties: Map<String, Value> = properties.collect();
                let mut schema = json!({"type": "object", "properties": properties});
                if !required.is_empty() {
                    schema["required"] = required.iter().cloned().collect();
                }
                schema
            }
        }
    }
}

/// Returns whether a member's name looks like one that a program has, and not like
/// data: letters first, then letters, digits, `_`, `-` or `$`.
fn is_name(name: &str) -> bool {
    let starts = |first: char| first.is_ascii_alphabetic() || "_$@".contains(first);
    let goes_on = |next: char| next.is_ascii_alphanumeric() || "_-$".contains(next);
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() <= MAX_NAME
        && name.starts_with(starts)
        && name.chars().skip(1).all(goes_on)
        // A name with many digits is an id.
        && digits <= 4
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Observer;

    fn observed(values: &[Value]) -> Value {
        let mut observer = Observer::default();
        values.iter().for_each(|value| observer.observe(value));
        observer.to_schema()
    }

    #[test]
    fn names_and_types_are_learned() {
        assert_eq!(observed(&[]), json!(true));
        assert_eq!(observed(&[json!(1), json!(2.5)]), json!({"type": "number"}));
        assert_eq!(
            observed(&[json!("a"), json!(null)]),
            json!({"type": ["null", "string"]})
        );
        assert_eq!(
            observed(&[json!([{"a": 1}, {"b": true}]), json!([])]),
            json!({"type": "array", "items": {"type": "object", "properties": {
                "a": {"type": "integer"}, "b": {"type": "boolean"}
            }}})
        );
        assert_eq!(
            observed(&[json!({"a": {"x": 1}}), json!({"a": "no"})]),
            json!({"type": "object", "properties": {"a": {"anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            ]}}, "required": ["a"]})
        );
    }

    #[test]
    fn names_that_are_data_are_not_kept() {
        for name in [
            "ada@example.com",
            "12",
            "a b",
            "",
            "id_123456",
            "x".repeat(65).as_str(),
        ] {
            let schema = observed(&[json!({(name): {"age": 5}, "b": {"age": 6}})]);
            let map = json!({"type": "object", "additionalProperties": {
                "type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]
            }});
            assert_eq!(schema, map, "{name}");
        }
        let wide: serde_json::Map<_, _> = (0..65).map(|at| (format!("n{at}"), json!(at))).collect();
        assert_eq!(
            observed(&[wide.into(), json!({"late": "x"})]),
            json!({"type": "object", "additionalProperties": {"type": ["integer", "string"]}})
        );
    }

    #[test]
    fn a_schema_that_was_written_goes_on() {
        let values = [
            json!({"a": [1, "x", null], "b": {"c": 1.5}}),
            json!({"a": [], "m": {"1": 2}}),
            json!([[{"q": true}]]),
            json!({"a": [{"d": "e"}]}),
        ];
        let mut stored = Observer::default().to_schema();
        for value in &values {
            let mut observer = Observer::from_schema(&stored);
            observer.observe(value);
            stored = observer.to_schema();
        }
        assert_eq!(stored, observed(&values));
    }

    #[test]
    fn deep_values_end() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        let text = observed(&[deep]).to_string();
        assert!(text.len() < 2_000, "{text}");
    }
}
