//! Schemas with an `$anchor`.

use serde_json::Value;

/// Keywords whose values are data, not schemas.
const DATA_KEYWORDS: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose members have names chosen by the author, and are schemas.
const SCHEMA_MAP_KEYWORDS: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Returns the JSON Pointer of the schema with this anchor.
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

/// Escapes a member's name as a token of a JSON Pointer.
pub(super) fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
