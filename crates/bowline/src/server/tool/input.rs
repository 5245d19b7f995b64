//! Tool arguments: the published schema, the check, and deserialization.

use std::sync::Arc;

use bowline_schema::{Budget, TextCheck, Validator};
use bytes::Bytes;
use schemars::{
    JsonSchema, Schema,
    transform::{RecursiveTransform, Transform as _},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::unique_keys::UniqueKeyValue;
use crate::{
    proto::jsonrpc::{ErrorObject, RawJson, code, decode_fast},
    server::error::{Error, Result},
};

/// The input of tools that take no arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct NoArguments {}

/// The compiled schema of a tool's arguments.
#[derive(Clone, Debug)]
pub(crate) struct InputSchema {
    validator: Arc<Validator>,
    /// The check on the text, if the schema is simple enough for one.
    text_check: Option<TextCheck>,
}

/// Arguments that match their schema.
#[derive(Clone, Debug)]
pub(crate) struct ToolArguments(ArgumentData);

#[derive(Clone, Debug)]
enum ArgumentData {
    /// The bytes as received.
    Raw(Bytes),
    Value(Value),
}

impl InputSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns an error if `schema` is not a valid schema, or has a reference
    /// that it does not contain.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        if schema["type"] != "object" {
            return Err("the input must be an object: use a struct with named fields".to_owned());
        }
        let validator = Validator::new(schema).map_err(|error| error.to_string())?;
        Ok(Self {
            validator: Arc::new(validator),
            text_check: TextCheck::compile(schema),
        })
    }

    /// Returns a schema that rejects everything, for a tool that is never
    /// called because its definition is invalid.
    pub(super) fn reject_all() -> Self {
        Self {
            validator: Arc::new(Validator::reject_all()),
            text_check: None,
        }
    }

    /// Checks the arguments of a call: a JSON string, which is a slice of the
    /// received params. The schema budget of the request limits the work.
    ///
    /// # Errors
    ///
    /// The outer error is a protocol error: the arguments are not a JSON
    /// object. The inner error, worded for the model, says where they do not
    /// match the schema.
    pub(crate) fn check(
        &self,
        json: Option<&str>,
        params: &Bytes,
        budget: &Budget,
    ) -> Result<Result<ToolArguments>, ErrorObject> {
        let json = json.unwrap_or("{}");
        if self
            .text_check
            .as_ref()
            .is_some_and(|check| check.is_surely_valid(json))
        {
            // Absent arguments are not a slice of the received params.
            let json = match json {
                "{}" => Bytes::from_static(b"{}"),
                json => params.slice_ref(json.as_bytes()),
            };
            return Ok(Ok(ToolArguments(ArgumentData::Raw(json))));
        }
        let arguments = parse_object(json.as_bytes())?;
        // What the check on text did not accept is probably wrong.
        let is_valid =
            self.text_check.is_none() && self.validator.is_valid_with_budget(&arguments, budget);
        let faults = match is_valid {
            true => None,
            false => self
                .validator
                .describe_errors_with_budget(&arguments, budget),
        };
        Ok(match faults {
            None => Ok(ToolArguments(ArgumentData::Value(arguments))),
            Some(faults) => Err(Error::failed(format!("Invalid arguments{faults}"))),
        })
    }
}

impl ToolArguments {
    /// Deserializes the arguments into the tool's own type.
    ///
    /// # Errors
    ///
    /// Returns an error, worded for the model, if the type is stricter than its
    /// schema.
    pub(crate) fn deserialize<T: DeserializeOwned>(self) -> Result<T> {
        let value = match self.0 {
            ArgumentData::Value(value) => value,
            ArgumentData::Raw(json) => match str::from_utf8(&json).ok().and_then(decode_fast) {
                Some(read) => return Ok(read),
                // Deserializing from a value reports the path of the error.
                None => parse_object(&json).map_err(Error::protocol)?,
            },
        };
        serde_path_to_error::deserialize(value).map_err(|fault| {
            let path = fault.path().to_string();
            Error::failed(format!("Invalid arguments\n- at {path}: {}", fault.inner()))
        })
    }
}

fn parse_object(json: &[u8]) -> Result<Value, ErrorObject> {
    let why = match serde_json::from_slice(json) {
        Ok(UniqueKeyValue(arguments @ Value::Object(_))) => return Ok(arguments),
        Ok(UniqueKeyValue(_)) => "must be an object".to_owned(),
        Err(error) => error.to_string(),
    };
    let message = format!("Invalid params: arguments: {why}");
    Err(ErrorObject::new(code::INVALID_PARAMS, message))
}

/// Returns the schema of a type as tools publish it, without the formats that
/// only Rust knows and that other languages complain about. The bounds express
/// the same.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    without_rust_formats(schemars::schema_for!(T))
}

/// Not generic, so it is compiled only once.
fn without_rust_formats(mut schema: Schema) -> Value {
    let mut transform = RecursiveTransform(|schema: &mut Schema| {
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(is_rust_format)
            && let Some(members) = schema.as_object_mut()
        {
            // `remove` would move the last member into the gap.
            members.shift_remove("format");
        }
    });
    transform.transform(&mut schema);
    // Keeps the order in which schemars writes schemas, with the metadata
    // first.
    serde_json::to_value(&schema).unwrap_or_else(|_| schema.to_value())
}

fn is_rust_format(format: &str) -> bool {
    let number = format.trim_start_matches("uint").trim_start_matches("int");
    matches!(format, "float" | "double" | "int" | "uint")
        || number != format && number.parse::<u8>().is_ok()
}

pub(super) fn to_raw_json(schema: &Value) -> Option<RawJson> {
    RawJson::encode(schema).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Trip {
        city: String,
        days: u8,
        price: Option<f32>,
        #[serde(default)]
        class: Class,
        stops: BTreeMap<Name, Vec<Name>>,
        more: Option<Value>,
    }

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    struct Name(String);

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Class {
        #[default]
        LowCost,
        First,
        Other(u8),
    }

    fn read(json: &'static str) -> Result<Trip> {
        ToolArguments(ArgumentData::Raw(Bytes::from_static(json.as_bytes()))).deserialize()
    }

    #[test]
    fn arguments_become_the_type_of_the_tool() {
        for json in [
            r#"{"city":"Porto","days":3,"stops":{}}"#,
            r#"{"city":"a\n\"\u00e9","days":0,"price":1.5,"class":"first","stops":{"a":["b\\"]}}"#,
            r#"{"city":"","days":1,"price":null,"stops":{},"more":[1,{"a":null}],"and":true}"#,
            // Unusual input takes the other path.
            r#"{"city":"","days":1,"class":{"other":7},"stops":{}}"#,
            r#"{"city":"","days":1,"stops":{},"more":1.5}"#,
        ] {
            let expected: Trip = serde_json::from_str(json).expect("it fits");
            assert_eq!(read(json).expect("it fits"), expected, "{json}");
        }
    }

    #[test]
    fn a_name_that_is_there_twice_is_refused_in_every_way_of_reading() {
        let fast = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let other = json!({"type": "object", "properties": {"city": {"minLength": 0}}});
        for schema in [fast, other] {
            let input = InputSchema::new(&schema).expect("it is a schema");
            for (json, name) in [
                (r#"{"city":"a","city":"a"}"#, "city"),
                (r#"{"city":"a","c\u0069ty":"b"}"#, "city"),
                (r#"{"x":1,"city":"a","x":2}"#, "x"),
                (r#"{"city":"a","more":[{"b":{},"b":{}}]}"#, "b"),
                (
                    r#"{"0":0,"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"8":0}"#,
                    "8",
                ),
            ] {
                let json = json.replace("\\\\", "\\");
                let params = Bytes::from(json);
                let json = str::from_utf8(&params).expect("it is text");
                let refused = input.check(Some(json), &params, &Budget::default());
                let refused = refused.expect_err(json);
                assert_eq!(refused.code, code::INVALID_PARAMS);
                let expected = format!("duplicate member {name:?}");
                assert!(refused.message.contains(&expected), "{}", refused.message);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let fault = read(r#"{"city":"a","days":1,"stops":{"x":[7]}}"#).unwrap_err();
        let fault = fault.to_string();
        assert!(fault.starts_with("Invalid arguments\n- at "), "{fault}");
        assert!(fault.contains("expected a string"), "{fault}");
    }

    #[test]
    fn arguments_are_checked_and_kept_as_they_came() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let input = InputSchema::new(&schema).expect("it is a schema");
        let params = Bytes::from_static(br#"{"name":"x","arguments":{"city":"a"}}"#);
        let json = str::from_utf8(&params[24..params.len() - 1]).expect("it is text");
        let alone = Budget::default();
        let checked = input.check(Some(json), &params, &alone).expect("an object");
        let ArgumentData::Raw(kept) = checked.expect("it fits").0 else {
            panic!("the schema is plain");
        };
        assert_eq!(kept, r#"{"city":"a"}"#);
        let unfit = input.check(Some(r#"{"city":7}"#), &params, &alone);
        assert!(unfit.expect("an object").is_err());
        assert!(input.check(Some("[]"), &params, &alone).is_err());
    }

    #[test]
    fn a_schema_is_published_in_the_order_of_its_type() {
        /// What is drawn
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Drawing {
            zoom: u8,
            /// Where it begins
            at: Point,
            colour: Option<String>,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Point {
            y: f64,
            x: f64,
        }
        let names = |schema: &Value| -> Vec<String> {
            let members = schema.as_object().expect("an object");
            members.keys().cloned().collect()
        };
        let schema = schema_of::<Drawing>();
        let whole = ["$schema", "title", "description", "type", "properties"];
        assert_eq!(names(&schema)[..5], whole);
        assert_eq!(names(&schema["properties"]), ["zoom", "at", "colour"]);
        assert_eq!(names(&schema["$defs"]["Point"]["properties"]), ["y", "x"]);
        let zoom = ["type", "minimum", "maximum"];
        assert_eq!(names(&schema["properties"]["zoom"]), zoom);
    }
}
