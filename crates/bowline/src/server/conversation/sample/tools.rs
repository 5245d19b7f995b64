//! Sampling for tool calls.

use std::collections::BTreeMap;

use bowline_schema::Validator;
use serde_json::Value;

use super::{
    Sampled,
    prompt::tool_calls,
    schema::{SCHEMA_TOOL, validator},
};
use crate::{
    proto::model::{Tool, ToolUseContent},
    server::error::{Error, ErrorKind, Result},
};

/// Tools that a model may call, with their compiled schemas.
pub(super) struct ToolValidators {
    by_name: BTreeMap<String, Validator>,
}

impl ToolValidators {
    /// # Errors
    ///
    /// Returns an error if there are no tools, two have the same name, a name
    /// is reserved, or a schema is invalid.
    pub(super) fn new(tools: &[Tool]) -> Result<Self> {
        if tools.is_empty() {
            return Err(invalid("there are no tools to call".to_owned()));
        }
        let mut by_name = BTreeMap::new();
        for tool in tools {
            let name = &tool.name;
            if name == SCHEMA_TOOL {
                return Err(invalid(format!("the tool name {name:?} is reserved")));
            }
            let schema: Value = tool.input_schema_or_empty().decode()?;
            if by_name.insert(name.clone(), validator(&schema)?).is_some() {
                return Err(invalid(format!("duplicate tool name {name:?}")));
            }
        }
        Ok(Self { by_name })
    }

    /// Reads the tool calls of an answer.
    ///
    /// # Errors
    ///
    /// Returns an error, worded for the model, if there are none or one is not
    /// valid.
    pub(super) fn read(&self, sampled: &Sampled) -> Result<Vec<ToolUseContent>, String> {
        let calls: Vec<_> = tool_calls(sampled.content()).cloned().collect();
        let faults: String = calls
            .iter()
            .filter_map(|call| self.validation_errors(call))
            .collect();
        if !faults.is_empty() {
            return Err(format!(
                "No tool was called, because not all calls are valid:{faults}\nCall again."
            ));
        }
        if calls.is_empty() {
            return Err("No tool was called. Call one of the tools.".to_owned());
        }
        Ok(calls)
    }

    fn validation_errors(&self, call: &ToolUseContent) -> Option<String> {
        let name = &call.name;
        let Some(validator) = self.by_name.get(name) else {
            return Some(format!("\nUnknown tool {name:?}."));
        };
        let found = match call.input.decode::<Value>() {
            Ok(input) => validator.describe_errors(&input),
            Err(error) => Some(format!("\n- not valid JSON: {error}")),
        };
        found.map(|faults| format!("\nThe input of {name:?}:{faults}"))
    }
}

fn invalid(why: String) -> Error {
    Error::with_kind(ErrorKind::InvalidQuestion, why)
}
