//! Where a schema is in its document, for messages.

use std::{fmt::Write as _, ptr};

use serde_json::Value;

use super::{display::truncate_message, resources::escape_token};

/// Returns the JSON Pointer of a value in a document, truncated if it is long.
///
/// Searches all of the document: only what is reported needs a pointer.
pub(super) fn pointer_to(document: &Value, target: &Value) -> String {
    let mut visited = vec![Visit {
        value: document,
        step: None,
    }];
    let mut at = 0;
    while let Some(Visit { value, .. }) = visited.get(at) {
        if ptr::eq(*value, target) {
            return truncate_message(path_to(&visited, at));
        }
        let inside = |token| Some((at, token));
        match value {
            Value::Array(items) => {
                visited.extend(items.iter().enumerate().map(|(index, value)| Visit {
                    value,
                    step: inside(Token::Index(index)),
                }));
            }
            Value::Object(members) => {
                visited.extend(members.iter().map(|(name, value)| Visit {
                    value,
                    step: inside(Token::Name(name)),
                }));
            }
            _ => {}
        }
        at += 1;
    }
    String::new()
}

/// A value, with the position of its parent among the visited ones.
struct Visit<'a> {
    value: &'a Value,
    step: Option<(usize, Token<'a>)>,
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Name(&'a str),
    Index(usize),
}

fn path_to(visited: &[Visit<'_>], mut at: usize) -> String {
    let mut tokens = Vec::new();
    while let Some((parent, token)) = visited[at].step {
        tokens.push(token);
        at = parent;
    }
    let mut path = String::new();
    for token in tokens.into_iter().rev() {
        // Writing to a string cannot fail.
        let _ = match token {
            Token::Name(name) => write!(path, "/{}", escape_token(name)),
            Token::Index(index) => write!(path, "/{index}"),
        };
    }
    path
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
