//! Names of definitions.

use std::collections::HashSet;

use serde_json::Value;

/// Keywords whose members have names that their author chose.
const NAMED: [&str; 3] = ["$defs", "definitions", "properties"];

/// The names that are taken.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Returns a name for the schema at a JSON Pointer that no other one has.
    pub(super) fn assign(&mut self, pointer: &str, schema: Option<&Value>) -> String {
        let name = proposed_name(pointer, schema);
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|candidate| self.0.insert(candidate.clone()));
        free.unwrap_or(name)
    }
}

fn proposed_name(pointer: &str, schema: Option<&Value>) -> String {
    let mut tokens = pointer.rsplit('/').map(unescape_token);
    let last = tokens.next().filter(|last| !last.is_empty());
    let parent = tokens.next().unwrap_or_default();
    let title = schema.and_then(|schema| schema["title"].as_str());
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    match (last, title) {
        (Some(last), _) if NAMED.contains(&parent.as_str()) => last,
        (_, Some(title)) => title.to_owned(),
        // A keyword, or an index, says little without what is around it.
        (Some(last), None) => format!("{parent}_{last}"),
        (None, None) => "Root".to_owned(),
    }
}

fn unescape_token(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Names;

    #[test]
    fn a_definition_is_named_after_its_place_or_its_title() {
        let titled = json!({"title": "A page"});
        let cases = [
            ("/$defs/Page", Some(&titled), "Page"),
            ("/definitions/a~1b", None, "a/b"),
            ("", Some(&titled), "A page"),
            ("/properties/page", Some(&titled), "page"),
            ("/properties/pages/items", Some(&titled), "A page2"),
            ("/properties/rows/items", None, "rows_items"),
            ("", None, "Root"),
            ("/items/$defs/Page", None, "Page2"),
            ("/prefixItems/0/$defs/Page", None, "Page3"),
        ];
        let mut names = Names::default();
        for (pointer, schema, expected) in cases {
            assert_eq!(names.assign(pointer, schema), expected, "{pointer}");
        }
    }
}
