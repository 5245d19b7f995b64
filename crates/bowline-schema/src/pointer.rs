//! JSON Pointers: their tokens, and where values are in a document.

use std::{borrow::Cow, fmt::Write as _};

use serde_json::Value;

/// All values of a document, in levels, each with the way to it. A list instead of
/// recursion: a document may be deep.
pub(crate) struct Walk<'a> {
    visited: Vec<Visit<'a>>,
    next: usize,
}

/// The position of a value in a walk.
#[derive(Clone, Copy)]
pub(crate) struct Position(usize);

struct Visit<'a> {
    value: &'a Value,
    /// The position of the value around it, and what leads from there to this one.
    step: Option<(usize, Token<'a>)>,
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Walk<'a> {
    pub(crate) fn new(document: &'a Value) -> Self {
        let root = Visit {
            value: document,
            step: None,
        };
        Self {
            visited: vec![root],
            next: 0,
        }
    }

    /// Returns the JSON Pointer of a value; `None` if it has more than about this many
    /// bytes.
    pub(crate) fn pointer(&self, position: Position, max_length: usize) -> Option<String> {
        let (mut at, mut length) = (position.0, 0);
        let mut tokens = Vec::new();
        while let Some((outer, token)) = self.visited[at].step {
            length += match token {
                Token::Name(name) => name.len() + 1,
                Token::Index(_) => 2,
            };
            if length > max_length {
                return None;
            }
            tokens.push(token);
            at = outer;
        }
        let mut pointer = String::new();
        for token in tokens.into_iter().rev() {
            // Writing to a string cannot fail.
            let _ = match token {
                Token::Name(name) => write!(pointer, "/{}", escape_token(name)),
                Token::Index(index) => write!(pointer, "/{index}"),
            };
        }
        Some(pointer)
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = (Position, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        let value = self.visited.get(at)?.value;
        let visit = |value, token| Visit {
            value,
            step: Some((at, token)),
        };
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, item)| visit(item, Token::Index(index)));
                self.visited.extend(items);
            }
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, member)| visit(member, Token::Name(name)));
                self.visited.extend(members);
            }
            _ => {}
        }
        self.next += 1;
        Some((Position(at), value))
    }
}

/// Escapes a member's name as a token of a JSON Pointer.
pub(crate) fn escape_token(name: &str) -> Cow<'_, str> {
    match name.contains(['~', '/']) {
        true => name.replace('~', "~0").replace('/', "~1").into(),
        false => name.into(),
    }
}

/// Returns the member's name that a token of a JSON Pointer stands for.
pub(crate) fn unescape_token(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Parses a token of a JSON Pointer as the index of an item: without a sign or leading
/// zeros.
pub(crate) fn parse_index(token: &str) -> Option<usize> {
    let is_padded = token.starts_with('+') || token.starts_with('0') && token.len() > 1;
    token.parse().ok().filter(|_| !is_padded)
}

/// Decodes a JSON Pointer in the fragment of a URI.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Walk;

    #[test]
    fn every_value_is_found_where_it_is() {
        let document = json!({"a": 1, "b/c": [1, {"d~": 1}]});
        let mut walk = Walk::new(&document);
        let mut found = Vec::new();
        while let Some((position, value)) = walk.next() {
            let pointer = walk.pointer(position, 100).expect("it is short");
            assert_eq!(document.pointer(&pointer), Some(value));
            found.push(pointer);
        }
        assert_eq!(
            found,
            ["", "/a", "/b~1c", "/b~1c/0", "/b~1c/1", "/b~1c/1/d~0"]
        );
    }

    #[test]
    fn a_pointer_that_is_too_long_is_not_written() {
        let document = json!({"abc": {"def": 1}});
        let mut walk = Walk::new(&document);
        let (last, _) = walk.by_ref().last().expect("there is a value");
        assert_eq!(walk.pointer(last, 7), None);
        assert_eq!(walk.pointer(last, 8).as_deref(), Some("/abc/def"));
    }
}
