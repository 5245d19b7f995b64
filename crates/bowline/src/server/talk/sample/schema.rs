//! Asking a model for a value, and reading it.

use std::marker::PhantomData;

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
    server::{
        error::{Error, ErrorKind, Result},
        faults::faults,
        schema::Validator,
    },
};

/// The tool that stands for a value.
pub(super) const SCHEMA_TOOL: &str = "__schema__";
/// Where a value is that is not an object, while the input of tools is one.
const WRAPPED: &str = "value";
/// The schema of a value that a model is asked for.
pub(super) struct Schema<T> {
    schema: Value,
    validator: Validator,
    /// The tool to ask with, where the client takes tools.
    tool: Option<Tool>,
    wrapped: bool,
    value: PhantomData<fn() -> T>,
}

impl<T: JsonSchema + DeserializeOwned> Schema<T> {
    /// The schema of the type.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub(super) fn of(takes_tools: bool) -> Result<Self> {
        let schema = schemars::schema_for!(T).to_value();
        let validator = validator(&schema)?;
        let wrapped = schema["type"] != "object";
        let tool = takes_tools.then(|| -> Result<Tool> {
            let mut tool = Tool::new(SCHEMA_TOOL);
            tool.description = Some("Gives the answer. Call it once.".to_owned());
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
            wrapped,
            value: PhantomData,
        })
    }

    /// Asks for the value: with a tool, or in words.
    pub(super) fn ask_for(&self, params: &mut CreateMessageParams) {
        let Some(tool) = &self.tool else {
            return say(&mut params.messages, &self.in_words());
        };
        params.tools = Some(vec![tool.clone()]);
        let mut choice = ToolChoice::default();
        choice.mode = Some(ToolChoiceMode::Required);
        params.tool_choice = Some(choice);
    }

    fn in_words(&self) -> String {
        let schema = &self.schema;
        format!(
            "Answer with JSON alone, without any other text. It must fit this JSON Schema:\n{schema}"
        )
    }

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// Where there is none, or it does not fit; in words for the model.
    pub(super) fn read(&self, sampled: &Sampled) -> Result<T, String> {
        let value = self.find(sampled).map_err(|why| self.again(&why))?;
        if let Some(faults) = faults(&self.validator, &value) {
            return Err(self.again(&faults));
        }
        serde_path_to_error::deserialize(value).map_err(|fault| {
            let place = fault.path().to_string();
            self.again(&format!("\n- at {place}: {}", fault.inner()))
        })
    }

    /// The value in an answer: the input of a tool, or JSON in the text.
    fn find(&self, sampled: &Sampled) -> Result<Value, String> {
        let call = tool_calls(sampled.content()).next();
        let value = match call {
            Some(call) => call.input.decode(),
            None => json_in(sampled.text()),
        };
        let value = value.map_err(|error| format!("\n- it is not JSON: {error}"))?;
        // A client that took no tool has not seen where the value should be.
        let wrapped = self.wrapped && self.tool.is_some();
        Ok(match value {
            Value::Object(mut fields) if wrapped && fields.len() == 1 => {
                let inner = fields.remove(WRAPPED);
                inner.unwrap_or(Value::Object(fields))
            }
            value => value,
        })
    }

    fn again(&self, faults: &str) -> String {
        let how = if self.tool.is_some() {
            "Call the tool again, with what fits its schema."
        } else {
            "Answer again, with JSON alone that fits the schema."
        };
        format!("The answer does not fit:{faults}\n{how}")
    }
}

/// Prepares a schema.
///
/// # Errors
///
/// Where it is none, or refers to what is not in it.
pub(super) fn validator(schema: &Value) -> Result<Validator> {
    Validator::new(schema).map_err(|fault| {
        let message = format!("this is not a schema: {fault}");
        Error::of(ErrorKind::InvalidQuestion, message)
    })
}

/// Adds a text to what the user says last.
fn say(messages: &mut Vec<SamplingMessage>, text: &str) {
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
        SamplingContent::One(block) => Some(block),
        SamplingContent::Many(blocks) => blocks.last_mut(),
    }
}

/// The schema of an object that has the value in it.
fn wrap(mut schema: Value) -> Value {
    let definitions = schema.as_object_mut().and_then(|schema| {
        // `remove` would put the last member into the gap.
        schema.shift_remove("$schema");
        schema.shift_remove("$defs")
    });
    move_root(&mut schema);
    let mut wrapped = json!({
        "type": "object",
        "properties": {WRAPPED: schema},
        "required": [WRAPPED],
        "additionalProperties": false,
    });
    if let Some(mut definitions) = definitions {
        move_root(&mut definitions);
        wrapped["$defs"] = definitions;
    }
    wrapped
}

/// What referred to the root of a schema refers to where that is now.
fn move_root(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && target == "#"
            {
                *target = format!("#/properties/{WRAPPED}");
            }
            members.values_mut().for_each(move_root);
        }
        Value::Array(items) => items.iter_mut().for_each(move_root),
        _ => {}
    }
}

/// The JSON in a text: all of it, or what stands within a code fence.
fn json_in(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.trim();
    serde_json::from_str(text).or_else(|error| {
        let fenced = fenced(text).find_map(|inner| serde_json::from_str(inner).ok());
        fenced.ok_or(error)
    })
}

/// What may stand within the first code fence. A fence within a string is
/// none, so that its end may be the next or the last.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    let body = text.split_once("```").and_then(|it| it.1.split_once('\n'));
    let ends = body.map(|(_, body)| [body.split_once("\n```"), body.rsplit_once("```")]);
    ends.into_iter().flatten().flatten().map(|it| it.0)
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
            assert_eq!(json_in(text).expect(text), json!({"a": 1}), "{text}");
        }
        let code = "```json\n{\"a\": \"\\n```\"}\n```";
        assert_eq!(json_in(code).expect("JSON"), json!({"a": "\n```"}));
        for text in ["", "none", "``` none", "```\nnone\n```"] {
            json_in(text).expect_err(text);
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
        say(&mut messages, "more");
        assert_eq!(messages, [user("q\n\nmore")]);
        messages.push(model.clone());
        say(&mut messages, "more");
        assert_eq!(messages, [user("q\n\nmore"), model, user("more")]);
    }
}
