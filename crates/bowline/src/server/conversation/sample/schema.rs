//! Sampling for a value that matches a schema.

use std::marker::PhantomData;

use bowline_schema::Validator;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Sampled, prompt::tool_calls};
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{
            CreateMessageParams, Role, SamplingBlock, SamplingContent, SamplingMessage, Tool,
            ToolChoice, ToolChoiceMode,
        },
    },
    server::error::{Error, ErrorKind, Result},
};

/// The name of the tool whose input is the value.
pub(super) const SCHEMA_TOOL: &str = "__schema__";
/// The member that holds a value that is not an object, since tool inputs must
/// be objects.
const WRAPPER_FIELD: &str = "value";
/// The schema of the value to sample.
pub(super) struct ResponseSchema<T> {
    schema: Value,
    validator: Validator,
    /// The tool to offer, if the client supports tools.
    tool: Option<Tool>,
    is_wrapped: bool,
    value: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + DeserializeOwned> ResponseSchema<T> {
    /// Generates the schema of the type.
    ///
    /// # Errors
    ///
    /// Returns an error if the schema is not valid.
    pub(super) fn new(supports_tools: bool) -> Result<Self> {
        let schema = schemars::schema_for!(T).to_value();
        let validator = validator(&schema)?;
        let wrapped = schema["type"] != "object";
        let tool = supports_tools.then(|| -> Result<Tool> {
            let mut tool = Tool::new(SCHEMA_TOOL);
            tool.description = Some("Returns the answer. Call it once.".to_owned());
            tool.input_schema = Some(if wrapped {
                RawJson::encode(&wrap(schema.clone()))?
            } else {
                RawJson::encode(&schema)?
            });
            Ok(tool)
        });
        Ok(Self {
            tool: tool.transpose()?,
            schema,
            validator,
            is_wrapped: wrapped,
            value: PhantomData,
        })
    }

    /// Adds the schema to the request: as a tool, or as instructions.
    pub(super) fn apply_to(&self, params: &mut CreateMessageParams) {
        let Some(tool) = &self.tool else {
            return append_text(&mut params.messages, &self.instructions());
        };
        params.tools = Some(vec![tool.clone()]);
        let mut choice = ToolChoice::default();
        choice.mode = Some(ToolChoiceMode::Required);
        params.tool_choice = Some(choice);
    }

    fn instructions(&self) -> String {
        let schema = &self.schema;
        format!(
            "Answer with JSON only, without any other text. It must match this JSON Schema:\n{schema}"
        )
    }

    /// Reads the value of an answer.
    ///
    /// # Errors
    ///
    /// Returns an error, worded for the model, if there is no value or it is
    /// not valid.
    pub(super) fn read(&self, sampled: &Sampled) -> Result<T, String> {
        let value = self
            .extract_value(sampled)
            .map_err(|why| self.retry_instructions(&why))?;
        if let Some(faults) = self.validator.describe_errors(&value) {
            return Err(self.retry_instructions(&faults));
        }
        serde_path_to_error::deserialize(value).map_err(|fault| {
            let path = fault.path().to_string();
            self.retry_instructions(&format!("\n- at {path}: {}", fault.inner()))
        })
    }

    /// Extracts the value of an answer: the input of the tool, or JSON in the
    /// text.
    fn extract_value(&self, sampled: &Sampled) -> Result<Value, String> {
        let call = tool_calls(sampled.content()).next();
        let value = match call {
            Some(call) => call.input.decode(),
            None => extract_json(sampled.text()),
        };
        let value = value.map_err(|error| format!("\n- not valid JSON: {error}"))?;
        // Without a tool, the model has not seen the wrapper.
        let wrapped = self.is_wrapped && self.tool.is_some();
        Ok(match value {
            Value::Object(mut fields) if wrapped && fields.len() == 1 => {
                let inner = fields.remove(WRAPPER_FIELD);
                inner.unwrap_or(Value::Object(fields))
            }
            value => value,
        })
    }

    fn retry_instructions(&self, faults: &str) -> String {
        let instruction = if self.tool.is_some() {
            "Call the tool again, with input that matches its schema."
        } else {
            "Answer again, with only JSON that matches the schema."
        };
        format!("The answer is not valid:{faults}\n{instruction}")
    }
}

/// Compiles a schema.
///
/// # Errors
///
/// Returns an error if it is not a valid schema, or has a reference that it
/// does not contain.
pub(super) fn validator(schema: &Value) -> Result<Validator> {
    Validator::new(schema).map_err(|fault| {
        let message = format!("invalid schema: {fault}");
        Error::with_kind(ErrorKind::InvalidQuestion, message)
    })
}

/// Appends text to the last user message.
fn append_text(messages: &mut Vec<SamplingMessage>, text: &str) {
    if let Some(last) = messages.last_mut()
        && last.role == Role::User
        && let Some(SamplingBlock::Text(block)) = last_block(&mut last.content)
    {
        block.text.push_str("\n\n");
        block.text.push_str(text);
        return;
    }
    messages.push(SamplingMessage::new(Role::User, SamplingBlock::text(text)));
}

fn last_block(content: &mut SamplingContent) -> Option<&mut SamplingBlock> {
    match content {
        SamplingContent::Single(block) => Some(block),
        SamplingContent::Multiple(blocks) => blocks.last_mut(),
    }
}

/// Wraps the schema in that of an object with one member.
fn wrap(mut schema: Value) -> Value {
    let definitions = schema.as_object_mut().and_then(|schema| {
        // `remove` would move the last member into the gap.
        schema.shift_remove("$schema");
        schema.shift_remove("$defs")
    });
    rewrite_root_refs(&mut schema);
    let mut wrapped = json!({
        "type": "object",
        "properties": {WRAPPER_FIELD: schema},
        "required": [WRAPPER_FIELD],
        "additionalProperties": false,
    });
    if let Some(mut definitions) = definitions {
        rewrite_root_refs(&mut definitions);
        wrapped["$defs"] = definitions;
    }
    wrapped
}

/// Rewrites references to the root of the schema, which has moved.
fn rewrite_root_refs(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && target == "#"
            {
                *target = format!("#/properties/{WRAPPER_FIELD}");
            }
            members.values_mut().for_each(rewrite_root_refs);
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite_root_refs),
        _ => {}
    }
}

/// Parses the JSON in a text: all of it, or the contents of a code fence.
fn extract_json(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.trim();
    serde_json::from_str(text).or_else(|error| {
        let fenced = fenced_blocks(text).find_map(|inner| serde_json::from_str(inner).ok());
        fenced.ok_or(error)
    })
}

/// Returns the possible contents of the first code fence. A fence within a JSON
/// string does not end it, so the end may be the next fence or the last one.
fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    let body = text.split_once("```").and_then(|it| it.1.split_once('\n'));
    let bodies = body.map(|(_, body)| [body.split_once("\n```"), body.rsplit_once("```")]);
    bodies.into_iter().flatten().flatten().map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_text() {
        for text in [
            " {\"a\": 1} ",
            "```json\n{\"a\": 1}\n```",
            "Here you are:\n```\n{\"a\": 1}\n```\nAnything else?\n```\n2\n```",
            "```json\n{\"a\": 1}```",
        ] {
            assert_eq!(extract_json(text).expect(text), json!({"a": 1}), "{text}");
        }
        let code = "```json\n{\"a\": \"\\n```\"}\n```";
        assert_eq!(extract_json(code).expect("JSON"), json!({"a": "\n```"}));
        for text in ["", "none", "``` none", "```\nnone\n```"] {
            extract_json(text).expect_err(text);
        }
    }

    #[test]
    fn a_value_that_is_no_object_is_put_into_one() {
        let tree = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "anyOf": [{"$ref": "#/$defs/leaf"}, {"type": "array", "items": {"$ref": "#"}}],
            "$defs": {"leaf": {"type": "integer"}},
        });
        let wrapped = wrap(tree);
        let validator = validator(&wrapped).expect("a schema");
        assert!(validator.is_valid(&json!({"value": [1, [2, []]]})));
        assert!(!validator.is_valid(&json!({"value": [1, ["two"]]})));
        assert!(!validator.is_valid(&json!([1])));
    }

    #[test]
    fn words_go_to_the_end_of_what_the_user_says() {
        let user = |text: &str| SamplingMessage::new(Role::User, SamplingBlock::text(text));
        let model = SamplingMessage::new(Role::Assistant, SamplingBlock::text("a"));
        let mut messages = vec![user("q")];
        append_text(&mut messages, "more");
        assert_eq!(messages, [user("q\n\nmore")]);
        messages.push(model.clone());
        append_text(&mut messages, "more");
        assert_eq!(messages, [user("q\n\nmore"), model, user("more")]);
    }
}
