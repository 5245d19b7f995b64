//! The path of a fault in a JSON text.
//!
//! A decoder reports how far it had read. Scanning the text again up to that
//! point finds the enclosing members and items.

use std::fmt::Write as _;

use super::skip;

/// Converts a line and a column, counted as `serde_json` counts them, to a byte
/// offset.
pub(super) fn offset(json: &[u8], line: usize, column: usize) -> usize {
    let mut lines = json.split_inclusive(|&byte| byte == b'\n');
    let before: usize = lines.by_ref().take(line.max(1) - 1).map(<[u8]>::len).sum();
    (before + column).min(json.len())
}

/// Returns the path of the value that a decoder had begun or ended when it had
/// read `offset` bytes, as in `tools[3].name`.
pub(super) fn path(json: &[u8], offset: usize) -> String {
    let mut finder = PathFinder {
        json,
        at: 0,
        open: Vec::new(),
    };
    while finder.at < offset && finder.step(offset) {}
    let mut path = String::new();
    for level in &finder.open {
        level.describe(json, &mut path);
    }
    path
}

struct PathFinder<'a> {
    json: &'a [u8],
    at: usize,
    /// The enclosing objects and arrays.
    open: Vec<Level>,
}

enum Level {
    /// In an object, at the member with this key. `None` while a key is
    /// expected.
    Member(Option<(usize, usize)>),
    /// In an array, at this item.
    Item(usize),
}

impl PathFinder<'_> {
    /// Skips one token, or one byte that is neither string nor structure.
    /// Returns whether there may be more before the offset.
    fn step(&mut self, offset: usize) -> bool {
        let start = skip::whitespace(self.json, self.at);
        if start >= offset {
            return false;
        }
        self.at = start + 1;
        match (self.json.get(start), self.open.last_mut()) {
            (None, _) => return false,
            (Some(b'{'), _) => self.open.push(Level::Member(None)),
            (Some(b'['), _) => self.open.push(Level::Item(0)),
            (Some(b'}' | b']'), _) => drop(self.open.pop()),
            (Some(b','), Some(Level::Item(index))) => *index += 1,
            (Some(b','), Some(Level::Member(key))) => *key = None,
            (Some(b'"'), level) => {
                let Ok(end) = skip::string(self.json, start + 1) else {
                    return false;
                };
                self.at = end + 1;
                match level {
                    Some(Level::Member(key)) if key.is_none() => *key = Some((start, end + 1)),
                    _ => {}
                }
            }
            _ => {}
        }
        true
    }
}

impl Level {
    fn describe(&self, json: &[u8], path: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Member(None) => Ok(()),
            Self::Member(Some((start, end))) => {
                let key: String = serde_json::from_slice(&json[*start..*end]).unwrap_or_default();
                let dot = if path.is_empty() { "" } else { "." };
                write!(path, "{dot}{key}")
            }
            Self::Item(index) => write!(path, "[{index}]"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset is marked by `^`, which is removed.
    fn check(marked: &str, expected: &str) {
        let offset = marked.find('^').expect("a mark");
        let json = marked.replace('^', "");
        assert_eq!(path(json.as_bytes(), offset), expected, "{marked}");
    }

    #[test]
    fn scalars_are_told_by_their_end() {
        check(r#"{"a":[1,23^,4]}"#, "a[1]");
        check(r#"{"a":[1,"],}"^ ,4]}"#, "a[1]");
        check(r#"{"a" : {"b.c": true^}}"#, "a.b.c");
        check(r#" 7^"#, "");
        check(r#"{"\u0061":7^}"#, "a");
    }

    #[test]
    fn containers_are_told_by_their_beginning_or_end() {
        check(r#"{"a":[1, ^{"b":1}]}"#, "a[1]");
        check(r#"{"a":[^{"b":1}]}"#, "a[0]");
        check(r#"{"a":^[1]}"#, "a");
        check(r#"{"a":[1,{"b":{}}^]}"#, "a[1]");
        check(r#"{"a":[1]^,"b":2}"#, "a");
        check(r#"[1,[2,[3,[]]]]^ "#, "");
        check("^[]", "");
    }

    #[test]
    fn what_is_not_json_ends_the_walk() {
        for text in [
            "", "{", "[", "]", "}}", ",", "\"", "{\"a", "{\"a\":", "[1,", ":,\"\"]",
        ] {
            for offset in 0..=text.len() + 1 {
                path(text.as_bytes(), offset);
            }
        }
        check(r#"{"a":[1,2^"#, "a[1]");
    }

    #[test]
    fn lines_and_columns_become_offsets() {
        let json = b"{\n \"a\":\n7}";
        assert_eq!(offset(json, 1, 1), 1);
        assert_eq!(offset(json, 2, 4), 6);
        assert_eq!(offset(json, 3, 1), 9);
        assert_eq!(offset(json, 3, 99), json.len());
        assert_eq!(offset(json, 0, 0), 0);
        assert_eq!(offset(json, 9, 0), json.len());
    }
}
