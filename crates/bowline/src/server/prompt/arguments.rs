//! Prompt arguments.

use std::ops::Index;

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        model::{self, DecodeError, PromptArgument},
        server::errors,
    },
    server::template::string_map::{self, StringMap},
};

/// An argument of a prompt. It is optional unless it is
/// [required](Self::required).
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Argument {
    pub(super) definition: PromptArgument,
}

impl Argument {
    /// Creates an argument with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: PromptArgument::new(name),
        }
    }

    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Makes the argument required.
    pub fn required(mut self) -> Self {
        self.definition.required = Some(true);
        self
    }
}

/// The arguments of a request, by name. All required arguments are present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Arguments {
    values: StringMap,
}

impl Arguments {
    /// Returns the value of an argument.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns all arguments, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.values.iter();
        values.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Parses the arguments of a request. Arguments that the prompt does not
    /// declare are dropped, so a handler sees nothing it did not declare.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument occurs twice, since it is undefined
    /// which one counts, or if required arguments are missing; the error names
    /// all of them.
    pub(crate) fn from_params(
        prompt: &model::Prompt,
        given: Option<model::Members<String>>,
    ) -> Result<Self, ErrorObject> {
        let mut values = StringMap::default();
        for (name, text) in given.into_iter().flatten().map(into_owned_pair) {
            if values.contains_key(&name) {
                let prefix: String = name.chars().take(40).collect();
                let message = format!("Invalid params: arguments: duplicate member {prefix:?}");
                return Err(ErrorObject::new(code::INVALID_PARAMS, message));
            }
            values.insert(name, text);
        }
        let is_known = |name: &String| prompt.arguments.iter().any(|it| it.name == *name);
        values.retain(|name, _| is_known(name));
        let required = prompt.arguments.iter();
        let missing: Vec<&str> = required
            .filter(|it| it.required == Some(true) && !values.contains_key(&it.name))
            .map(|it| it.name.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(Self { values });
        }
        let message = format!("Invalid params: missing arguments: {}", missing.join(", "));
        Err(ErrorObject::new(code::INVALID_PARAMS, message))
    }

    /// Deserializes the arguments into the prompt's own type.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument does not match its field.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, ErrorObject> {
        string_map::deserialize(&self.values).map_err(|fault| {
            let path = match fault.path.as_str() {
                "" => "arguments".to_owned(),
                path => format!("arguments.{path}"),
            };
            errors::invalid_params(&DecodeError::new(path, fault.message))
        })
    }
}

fn into_owned_pair((name, text): (std::borrow::Cow<'static, str>, String)) -> (String, String) {
    (name.into_owned(), text)
}

/// Returns the value of an argument.
///
/// # Panics
///
/// Panics if the argument is absent. Use this for required arguments, and
/// [`get`](Arguments::get) for the others.
impl Index<&str> for Arguments {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.get(name) {
            Some(text) => text,
            None => panic!("argument {name:?} is missing"),
        }
    }
}

/// Returns the arguments declared by a struct: its fields, in order.
///
/// # Errors
///
/// Returns an error if it is not a struct with named fields.
pub(super) fn arguments_from_schema<T: JsonSchema>() -> Result<Vec<PromptArgument>, String> {
    let schema = schemars::schema_for!(T).to_value();
    let Some(Value::Object(fields)) = schema.get("properties") else {
        return Err("its arguments must be a struct with named fields".to_owned());
    };
    let text = |field: &Value, key: &str| field[key].as_str().map(str::to_owned);
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let argument = |(name, field): (&String, &Value)| {
        let mut argument = PromptArgument::new(name);
        argument.title = text(field, "title");
        argument.description = text(field, "description");
        argument.required = is_required(name).then_some(true);
        argument
    };
    Ok(fields.iter().map(argument).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_is_there_twice_is_refused() {
        let prompt = model::Prompt::new("sum");
        let take = |given: &str| {
            let given = serde_json::from_str(given).expect("an object of texts");
            Arguments::from_params(&prompt, Some(given))
        };
        assert!(take(r#"{"page": "1", "\u0050age": "2"}"#).is_ok());
        let error = take(r#"{"page": "1", "p\u0061ge": "1"}"#).expect_err("a duplicate");
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(
            error.message.contains("duplicate member \"page\""),
            "{}",
            error.message
        );
    }
}
