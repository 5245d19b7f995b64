//! Looking up the keywords of a schema.

use serde_json::{Map, Value};

/// The number of members up to which names are compared one by one.
const MAX_COMPARED: usize = 16;

/// Returns the value of a keyword. Many keywords are looked for, and most schemas have
/// few: to compare their names takes less than to hash each keyword.
pub(crate) fn keyword_value<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    if schema.len() > MAX_COMPARED {
        return schema.get(key);
    }
    let found = schema.iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| value)
}
