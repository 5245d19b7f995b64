//! Reading the keywords of one schema that need no other schema.

use std::slice;

use serde_json::{Map, Number, Value};

use super::{
    format::Format,
    hashed::EnumValues,
    json_type::{JsonType, Types},
    keyword::ValueKeyword,
    pattern::Pattern,
    pointer::pointer_to,
    resources::Place,
};
use crate::keyword_value::keyword_value;

type Result<T> = std::result::Result<T, String>;

/// A schema that is an object, and its place in the document.
pub(super) struct SchemaReader<'a> {
    members: &'a Map<String, Value>,
    pub(super) place: Place<'a>,
    document: &'a Value,
}

impl<'a> SchemaReader<'a> {
    pub(super) fn new(
        members: &'a Map<String, Value>,
        place: Place<'a>,
        document: &'a Value,
    ) -> Self {
        Self {
            members,
            place,
            document,
        }
    }

    /// Returns the value of a keyword.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        keyword_value(self.members, key)
    }

    /// Returns all keywords that need no other schema, but for the types. Those that
    /// are cheap or most informative are first.
    pub(super) fn value_keywords(&self, asserts_formats: bool) -> Result<Vec<ValueKeyword>> {
        let mut keywords = Vec::new();
        keywords.extend(self.get("const").cloned().map(ValueKeyword::Const));
        keywords.extend(
            self.array("enum")?
                .map(|values| ValueKeyword::Enum(Box::new(EnumValues::new(values)))),
        );
        keywords.extend(self.number("minimum")?.map(ValueKeyword::Minimum));
        keywords.extend(self.number("maximum")?.map(ValueKeyword::Maximum));
        keywords.extend(
            self.number("exclusiveMinimum")?
                .map(ValueKeyword::ExclusiveMinimum),
        );
        keywords.extend(
            self.number("exclusiveMaximum")?
                .map(ValueKeyword::ExclusiveMaximum),
        );
        if let Some(divisor) = self.number("multipleOf")? {
            if divisor.as_f64().is_none_or(|divisor| divisor <= 0.0) {
                return Err(self.error("multipleOf", "must be greater than 0"));
            }
            keywords.push(ValueKeyword::MultipleOf(divisor));
        }
        keywords.extend(self.limit("minLength")?.map(ValueKeyword::MinLength));
        keywords.extend(self.limit("maxLength")?.map(ValueKeyword::MaxLength));
        if let Some(pattern) = self.get("pattern") {
            let pattern = pattern.as_str();
            let pattern = pattern.ok_or_else(|| self.error("pattern", "must be a string"))?;
            keywords.push(ValueKeyword::Pattern(Pattern::new(pattern)?));
        }
        let format = self.get("format").and_then(Value::as_str);
        let format = format.filter(|_| asserts_formats);
        keywords.extend(format.and_then(Format::from_name).map(ValueKeyword::Format));
        keywords.extend(self.limit("minItems")?.map(ValueKeyword::MinItems));
        keywords.extend(self.limit("maxItems")?.map(ValueKeyword::MaxItems));
        match self.get("uniqueItems") {
            Some(Value::Bool(true)) => keywords.push(ValueKeyword::UniqueItems),
            None | Some(Value::Bool(false)) => {}
            Some(_) => return Err(self.error("uniqueItems", "must be a boolean")),
        }
        keywords.extend(
            self.limit("minProperties")?
                .map(ValueKeyword::MinProperties),
        );
        keywords.extend(
            self.limit("maxProperties")?
                .map(ValueKeyword::MaxProperties),
        );
        if let Some(dependent) = self.get("dependentRequired") {
            let fault = || self.error("dependentRequired", "must be an object");
            for (name, others) in dependent.as_object().ok_or_else(fault)? {
                let others = self.names("dependentRequired", others)?;
                keywords.push(ValueKeyword::DependentRequired(name.clone(), others));
            }
        }
        Ok(keywords)
    }

    pub(super) fn types(&self) -> Result<Option<Types>> {
        let names = match self.get("type") {
            None => return Ok(None),
            Some(name @ Value::String(_)) => slice::from_ref(name),
            Some(Value::Array(names)) => names,
            Some(_) => &[],
        };
        let kind = |name: &Value| JsonType::from_name(name.as_str()?);
        let types: Option<Types> = names.iter().map(kind).collect();
        let fault = || self.error("type", "must be a type, or an array of them");
        let types = types.filter(|_| !names.is_empty());
        types.ok_or_else(fault).map(Some)
    }

    pub(super) fn names(&self, key: &str, names: &Value) -> Result<Vec<String>> {
        let names = names.as_array().map(|names| {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<Vec<String>>>()
        });
        let fault = || self.error(key, "must be an array of strings");
        names.flatten().ok_or_else(fault)
    }

    fn array(&self, key: &str) -> Result<Option<&'a [Value]>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.error(key, "must be an array")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<Number>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(self.error(key, "must be a number")),
        }
    }

    /// Parses a count; `2.0` is one too.
    pub(super) fn limit(&self, key: &str) -> Result<Option<u64>> {
        let Some(number) = self.number(key)? else {
            return Ok(None);
        };
        let whole = |float: f64| (float >= 0.0 && float.fract() == 0.0).then_some(float as u64);
        let limit = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        let fault = || self.error(key, "must be a non-negative integer");
        limit.ok_or_else(fault).map(Some)
    }

    pub(super) fn error(&self, key: &str, what: &str) -> String {
        let pointer = pointer_to(self.document, self.place.schema);
        format!("at \"#{pointer}\": `{key}` {what}")
    }
}
