//! Where a schema is in its document, for messages.

use std::ptr;

use serde_json::Value;

use super::display::truncate_message;
use crate::pointer::Walk;

/// Returns the JSON Pointer of a value in a document, truncated if it is long.
///
/// Searches all of the document: only what is reported needs a pointer.
pub(super) fn pointer_to(document: &Value, target: &Value) -> String {
    let mut walk = Walk::new(document);
    let found = walk.find(|(_, value)| ptr::eq(*value, target));
    let pointer = found.and_then(|(position, _)| walk.pointer(position, usize::MAX));
    truncate_message(pointer.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_where_it_is() {
        let document = json!({"a": 1, "b/c": [1, {"d~": 1}]});
        for pointer in ["", "/a", "/b~1c", "/b~1c/0", "/b~1c/1/d~0"] {
            let target = document.pointer(pointer).expect("it is there");
            assert_eq!(pointer_to(&document, target), pointer);
        }
    }
}
