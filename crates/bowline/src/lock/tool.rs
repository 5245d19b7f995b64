//! A tool as it was reviewed.

use bowline_schema::compare::{Usage, compare};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    change::{Change, Differences, ItemKind},
    error::LockError,
    hash::hash_of,
    observed::ObservedOutput,
};
use crate::{
    RawJson,
    model::{Tool, ToolMode},
};

/// A tool as it was reviewed. Icons and metadata are not part of it, apart from
/// [`mode`](Self::mode).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedTool {
    /// The hash of everything below except the observed output.
    pub hash: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Hints about its behaviour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Whether the tool keeps state between calls, as it declares.
    #[serde(default, with = "declared_mode", skip_serializing_if = "is_stateful")]
    pub mode: ToolMode,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What its results looked like, if it declares no output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_output: Option<ObservedOutput>,
}

impl LockedTool {
    /// Creates the entry for a tool that a server lists.
    ///
    /// # Errors
    ///
    /// Returns an error if a schema contains numbers that cannot be represented, or is
    /// nested too deep.
    pub fn new(tool: &Tool) -> Result<Self, LockError> {
        let parse = |schema: &RawJson| {
            serde_json::from_str(schema.get()).map_err(|error| LockError::Schema {
                tool: tool.name.clone(),
                reason: error.to_string(),
            })
        };
        let annotations = tool.annotations.as_ref();
        let annotations = annotations.and_then(|it| serde_json::to_value(it).ok());
        let mut locked = Self {
            hash: String::new(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            annotations: annotations.filter(|it| it != &Value::Object(<_>::default())),
            mode: tool.mode(),
            input_schema: parse(&tool.input_schema_or_empty())?,
            output_schema: tool.output_schema.as_ref().map(parse).transpose()?,
            observed_output: None,
        };
        locked.hash = locked.computed_hash();
        Ok(locked)
    }

    /// Returns the hash that the definition should have.
    pub(super) fn computed_hash(&self) -> String {
        let unhashed = Self {
            hash: String::new(),
            observed_output: None,
            ..self.clone()
        };
        hash_of(&unhashed)
    }

    /// Returns how a later version differs; `None` if it is the same.
    #[must_use]
    pub fn compare(&self, name: &str, current: &Self) -> Option<Change> {
        if self.hash == current.hash {
            return None;
        }
        let mut found = Differences::default();
        found.text("title", self.title.as_ref(), current.title.as_ref());
        let (old, new) = (&self.description, &current.description);
        found.text("description", old.as_ref(), new.as_ref());
        if self.annotations != current.annotations {
            found.compatible("/annotations", "the annotations changed");
        }
        if self.mode != current.mode {
            let message = match current.mode {
                ToolMode::Stateful => "the tool may now keep state between calls",
                ToolMode::Stateless => "the tool no longer keeps state between calls",
            };
            found.compatible("/mode", message);
        }
        let input = compare(&self.input_schema, &current.input_schema, Usage::Input);
        found.schema("/inputSchema", &input);
        match (&self.output_schema, &current.output_schema) {
            (Some(old), Some(new)) => {
                found.schema("/outputSchema", &compare(old, new, Usage::Output));
            }
            (Some(_), None) => found.breaking("/outputSchema", "the output schema was removed"),
            (None, Some(_)) => found.compatible("/outputSchema", "an output schema was added"),
            (None, None) => {}
        }
        Some(found.into_change(ItemKind::Tool, name))
    }
}

/// What declares nothing is stateful, and is not written.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_stateful(mode: &ToolMode) -> bool {
    *mode == ToolMode::Stateful
}

/// The mode as a word.
mod declared_mode {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::ToolMode;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Stateful,
        Stateless,
    }

    pub(super) fn serialize<S: Serializer>(
        mode: &ToolMode,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let word = match mode {
            ToolMode::Stateful => Word::Stateful,
            ToolMode::Stateless => Word::Stateless,
        };
        word.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ToolMode, D::Error> {
        Ok(match Word::deserialize(deserializer)? {
            Word::Stateful => ToolMode::Stateful,
            Word::Stateless => ToolMode::Stateless,
        })
    }
}
