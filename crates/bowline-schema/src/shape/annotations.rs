//! Annotations of a schema, and those of several schemas for one value.

use serde_json::{Map, Value};

use super::Annotations;
use crate::keyword_value::keyword_value;

impl Annotations {
    /// Reads the annotations of a schema. Those that have another type are ignored.
    pub(super) fn read(members: &Map<String, Value>) -> Self {
        let text = |key: &str| {
            let text = keyword_value(members, key).and_then(Value::as_str);
            let text = text.map(str::trim).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let examples = keyword_value(members, "examples").and_then(Value::as_array);
        Self {
            title: text("title"),
            description: text("description"),
            default: keyword_value(members, "default").cloned(),
            examples: examples.cloned().unwrap_or_default(),
            is_deprecated: keyword_value(members, "deprecated") == Some(&Value::Bool(true)),
        }
    }

    /// Adds those of another schema for the same value where this one has none.
    pub(super) fn or(self, other: Self) -> Self {
        let examples = match self.examples.is_empty() {
            true => other.examples,
            false => self.examples,
        };
        Self {
            title: self.title.or(other.title),
            description: self.description.or(other.description),
            default: self.default.or(other.default),
            examples,
            is_deprecated: self.is_deprecated || other.is_deprecated,
        }
    }
}
