//! Tools whose schemas are what matters.

use bowline::server::Tool;
use serde_json::json;

use crate::app::App;

pub fn tools() -> [Tool<App>; 2] {
    [full_schema(), header()]
}

/// A schema with everything that must survive the way to the client.
fn full_schema() -> Tool<App> {
    Tool::new("json_schema_2020_12_tool")
        .description("Has a schema with keywords of JSON Schema 2020-12")
        .input_schema(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {
                        "street": { "type": "string" },
                        "city": { "type": "string" },
                    },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [
                { "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] },
            ],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"],
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }))
        .handler(async |arguments| {
            let given: Vec<_> = arguments.keys().cloned().collect();
            Ok(format!("Given: {}", given.join(", ")))
        })
}

/// An argument that HTTP requests repeat in a header.
fn header() -> Tool<App> {
    Tool::new("test_custom_header")
        .description("Has an argument that is repeated in a header")
        .input_schema(json!({
            "type": "object",
            "properties": {
                "value": { "type": "string", "x-mcp-header": "Value" },
            },
            "required": ["value"],
        }))
        .handler(async |arguments| Ok(format!("The value is {}.", arguments["value"])))
}
