//! Schemas that have a name of their own within their document.

use serde_json::Value;

/// What is under these is data, and no schema, whatever it looks like.
const DATA_KEYWORDS: [&str; 4] = ["const", "default", "enum", "examples"];
/// Under these, members are named by the author, and each is a schema.
const SCHEMA_MAP_KEYWORDS: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// The JSON Pointer of the schema that has this name.
pub(super) fn find(document: &Value, name: &str) -> Option<String> {
    find_in(document, name, "")
}

fn find_in(schema: &Value, name: &str, pointer: &str) -> Option<String> {
    let Value::Object(members) = schema else {
        return None;
    };
    if members.get("$anchor").is_some_and(|anchor| anchor == name) {
        return Some(pointer.to_owned());
    }
    members.iter().find_map(|(keyword, value)| {
        let pointer = format!("{pointer}/{}", escape_token(keyword));
        match value {
            _ if DATA_KEYWORDS.contains(&&**keyword) => None,
            Value::Object(named) if SCHEMA_MAP_KEYWORDS.contains(&&**keyword) => {
                named.iter().find_map(|(key, schema)| {
                    find_in(schema, name, &format!("{pointer}/{}", escape_token(key)))
                })
            }
            Value::Array(schemas) => schemas
                .iter()
                .enumerate()
                .find_map(|(number, schema)| find_in(schema, name, &format!("{pointer}/{number}"))),
            schema => find_in(schema, name, &pointer),
        }
    })
}

/// A member's name as a step of a JSON Pointer.
pub(super) fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
