//! What tools are given, and whether it is what they ask for.

use std::sync::Arc;

use schemars::{
    JsonSchema, Schema,
    transform::{RecursiveTransform, Transform as _},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    proto::jsonrpc::RawJson,
    server::{
        error::{Error, Result},
        faults::faults,
        schema::Validator,
    },
};

/// The input of tools that take no arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct NoArguments {}

/// The schema of a tool's arguments, ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    validator: Arc<Validator>,
}

/// Arguments that fit their schema.
#[derive(Clone, Debug)]
pub(crate) struct Arguments(Value);

impl Input {
    /// Prepares a schema.
    ///
    /// # Errors
    ///
    /// Where it is none, or refers to what is not in it.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        if schema["type"] != "object" {
            return Err("the input must be an object: a struct with named fields".to_owned());
        }
        let validator = Validator::new(schema)?;
        Ok(Self {
            validator: Arc::new(validator),
        })
    }

    /// For a tool that is never called, since something is wrong with it.
    pub(super) fn refusing() -> Self {
        let nothing = Value::Bool(false);
        let validator = Validator::new(&nothing);
        Self {
            validator: Arc::new(validator.expect("`false` is a schema")),
        }
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    ///
    /// Where they do not fit; in words for the model.
    pub(crate) fn check(&self, arguments: Value) -> Result<Arguments> {
        if self.validator.is_valid(&arguments) {
            return Ok(Arguments(arguments));
        }
        let faults = faults(&self.validator, &arguments).unwrap_or_default();
        Err(Error::failed(format!("Invalid arguments{faults}")))
    }
}

impl Arguments {
    /// The arguments as the tool's own type.
    ///
    /// # Errors
    ///
    /// Where the type wants more than its schema says; in words for the model.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T> {
        serde_path_to_error::deserialize(self.0).map_err(|fault| {
            let place = fault.path().to_string();
            Error::failed(format!(
                "Invalid arguments\n- at {place}: {}",
                fault.inner()
            ))
        })
    }
}

/// The schema of a type, as tools publish it: without the formats that only
/// Rust knows, about which other languages complain. The bounds say the same.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let mut standard = RecursiveTransform(|schema: &mut Schema| {
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(is_of_rust) {
            schema.remove("format");
        }
    });
    let mut schema = schemars::schema_for!(T);
    standard.transform(&mut schema);
    schema.to_value()
}

fn is_of_rust(format: &str) -> bool {
    let number = format.trim_start_matches("uint").trim_start_matches("int");
    matches!(format, "float" | "double" | "int" | "uint")
        || number != format && number.parse::<u8>().is_ok()
}

pub(super) fn raw(schema: &Value) -> Option<RawJson> {
    RawJson::encode(schema).ok()
}
