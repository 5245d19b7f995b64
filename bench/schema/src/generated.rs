//! Tools of the size that published ones have: five members each, 1,000 bytes of
//! schema, a result schema for one in six.

use serde_json::{Map, Value, json};

/// The schemas of one tool: of its arguments and, for some, of its results.
pub(crate) fn tool(number: usize) -> (Value, Option<Value>) {
    let input = object(number, 3 + number % 5);
    let output = number.is_multiple_of(6).then(|| object(number + 1, 6));
    (input, output)
}

fn object(number: usize, members: usize) -> Value {
    let names: Vec<String> = (0..members)
        .map(|at| format!("{}_{at}", WORDS[(number + at) % WORDS.len()]))
        .collect();
    let properties: Map<String, Value> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.clone(), member(number + at)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": names[..members / 2],
        "additionalProperties": false,
        "$defs": {"Range": {
            "type": "object",
            "description": "A part of a longer list",
            "properties": {
                "first": {"type": "integer", "minimum": 0},
                "count": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50},
            },
            "required": ["first"],
        }},
    })
}

const WORDS: [&str; 7] = [
    "project", "query", "filter", "author", "branch", "fields", "page",
];

fn member(number: usize) -> Value {
    match number % 8 {
        0 => {
            json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many there are to be at most, from 1 to 100"})
        }
        1 => {
            json!({"type": "string", "enum": ["open", "closed", "merged", "all"], "description": "Which state they have"})
        }
        2 => {
            json!({"type": "boolean", "default": false, "description": "Whether those in the archive are included; that takes longer"})
        }
        3 => {
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "The names of the fields to return, or all if there are none"})
        }
        4 => json!({"$ref": "#/$defs/Range"}),
        5 => {
            json!({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "description": "The time of the last change, or nothing"})
        }
        6 => json!({
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "user"}, "login": {"type": "string"}}, "required": ["kind", "login"]},
                {"type": "object", "properties": {"kind": {"const": "team"}, "team": {"type": "string"}, "members": {"type": "integer"}}, "required": ["kind", "team"]},
            ],
            "description": "Who is to be asked",
        }),
        _ => {
            json!({"type": "string", "minLength": 1, "maxLength": 400, "description": "The id or the path of the project, as the server shows it in its address"})
        }
    }
}
