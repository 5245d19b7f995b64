//! What can be filled in in a prompt.

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

/// A blank in a prompt. It may be left empty unless it is
/// [required](Self::required).
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Argument {
    pub(super) definition: PromptArgument,
}

impl Argument {
    /// A blank of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: PromptArgument::new(name),
        }
    }

    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What belongs there.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// It must be filled in.
    pub fn required(mut self) -> Self {
        self.definition.required = Some(true);
        self
    }
}

/// What was filled in, by name. All that is required is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Arguments {
    values: StringMap,
}

impl Arguments {
    /// What was filled in under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// All that was filled in, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.values.iter();
        values.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Takes arguments in. What the prompt does not know is left out: a
    /// handler sees nothing that it did not announce.
    ///
    /// # Errors
    ///
    /// Where something is there twice, so that it is open which one counts;
    /// where something that is required is missing, all of which is named.
    pub(crate) fn from_params(
        prompt: &model::Prompt,
        given: Option<model::Members<String>>,
    ) -> Result<Self, ErrorObject> {
        let mut values = StringMap::default();
        for (name, text) in given.into_iter().flatten().map(into_owned_pair) {
            if values.contains_key(&name) {
                let prefix: String = name.chars().take(40).collect();
                let message = format!("Invalid params: arguments: {prefix:?} is there twice");
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

    /// The arguments as the prompt's own type.
    ///
    /// # Errors
    ///
    /// Where one is not what its field is.
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

/// What was filled in under a name.
///
/// # Panics
///
/// Where nothing was: use it for what is required, and
/// [`get`](Arguments::get) for the rest.
impl Index<&str> for Arguments {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.get(name) {
            Some(text) => text,
            None => panic!("the argument {name:?} is not filled in"),
        }
    }
}

/// The blanks that a struct has: its fields, in their order.
///
/// # Errors
///
/// Where it is not a struct with named fields; says so.
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
        let error = take(r#"{"page": "1", "p\u0061ge": "1"}"#).expect_err("it is there twice");
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(
            error.message.contains("\"page\" is there twice"),
            "{}",
            error.message
        );
    }
}
