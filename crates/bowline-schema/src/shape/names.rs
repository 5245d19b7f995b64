//! Names of definitions.

use std::collections::HashMap;

use serde_json::Value;

use crate::pointer::unescape_token;

/// Keywords whose members have names that their author chose.
const NAMED: [&str; 3] = ["$defs", "definitions", "properties"];

/// The names that are taken, with the number that was last added to each.
#[derive(Default)]
pub(super) struct Names(HashMap<String, usize>);

impl Names {
    /// Returns a name for the schema at a JSON Pointer that no other one has.
    pub(super) fn assign(&mut self, pointer: &str, schema: &Value) -> String {
        let name = proposed_name(pointer, schema);
        let mut free = name.clone();
        while self.0.contains_key(&free) {
            let number = self.0.entry(name.clone()).or_insert(1);
            *number += 1;
            free = format!("{name}{number}");
        }
        self.0.insert(free.clone(), 1);
        free
    }
}

fn proposed_name(pointer: &str, schema: &Value) -> String {
    let mut tokens = pointer.rsplit('/').map(unescape_token);
    let last = tokens.next().filter(|last| !last.is_empty());
    let parent = tokens.next().unwrap_or_default();
    let title = schema["title"].as_str();
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    match (last, title) {
        (Some(last), _) if NAMED.contains(&parent.as_str()) => last,
        (_, Some(title)) => title.to_owned(),
        // A keyword, or an index, says little without what is around it.
        (Some(last), None) => format!("{parent}_{last}"),
        (None, None) => "Root".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Names;

    #[test]
    fn a_definition_is_named_after_its_place_or_its_title() {
        let (titled, untitled) = (json!({"title": "A page"}), json!({}));
        let cases = [
            ("/$defs/Page", &titled, "Page"),
            ("/definitions/a~1b", &untitled, "a/b"),
            ("", &titled, "A page"),
            ("/properties/page", &titled, "page"),
            ("/properties/pages/items", &titled, "A page2"),
            ("/properties/rows/items", &untitled, "rows_items"),
            ("", &untitled, "Root"),
            ("/$defs/Page3", &untitled, "Page3"),
            ("/items/$defs/Page", &untitled, "Page2"),
            ("/prefixItems/0/$defs/Page", &untitled, "Page4"),
        ];
        let mut names = Names::default();
        for (pointer, schema, expected) in cases {
            assert_eq!(names.assign(pointer, schema), expected, "{pointer}");
        }
    }
}
