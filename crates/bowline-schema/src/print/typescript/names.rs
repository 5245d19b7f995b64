//! Names that TypeScript accepts: of types, and of members.

use std::collections::HashMap;

use super::literal::quote;

/// How many characters of a name are kept.
const MAX_LENGTH: usize = 60;

/// Types of the language that the output uses.
const GLOBAL_TYPES: [&str; 3] = ["Array", "Object", "Record"];

/// Letters beyond ASCII that every version of TypeScript accepts in an identifier, and
/// that are written from left to right: Latin, Greek, Cyrillic, Japanese, Chinese and
/// Korean.
const LETTERS: [(char, char); 11] = [
    ('\u{c0}', '\u{d6}'),
    ('\u{d8}', '\u{f6}'),
    ('\u{f8}', '\u{24f}'),
    ('\u{388}', '\u{38a}'),
    ('\u{38e}', '\u{3a1}'),
    ('\u{3a3}', '\u{3ff}'),
    ('\u{400}', '\u{481}'),
    ('\u{3041}', '\u{3096}'),
    ('\u{30a1}', '\u{30fa}'),
    ('\u{4e00}', '\u{9fef}'),
    ('\u{ac00}', '\u{d7a3}'),
];

/// The names of types in a module, each of which is given once.
///
/// ```
/// use bowline_schema::print::typescript::TypeNames;
///
/// let mut names = TypeNames::new();
/// names.reserve("Client");
/// assert_eq!(names.assign("search_result"), "SearchResult");
/// assert_eq!(names.assign("search-result"), "SearchResult2");
/// assert_eq!(names.assign("client"), "Client2");
/// ```
#[derive(Clone, Debug)]
pub struct TypeNames {
    /// The number that the next one of the same name may have.
    taken: HashMap<String, usize>,
}

impl Default for TypeNames {
    fn default() -> Self {
        Self::new()
    }
}

impl TypeNames {
    /// Creates an empty set of names, apart from those that the printer needs.
    #[must_use]
    pub fn new() -> Self {
        let taken = GLOBAL_TYPES.map(|name| (name.to_owned(), 2));
        Self {
            taken: taken.into(),
        }
    }

    /// Takes a name that the module uses for something else.
    pub fn reserve(&mut self, name: &str) {
        self.taken.entry(name.to_owned()).or_insert(2);
    }

    /// Makes a valid name of any text, and takes it. If it is taken already, a number
    /// is added.
    pub fn assign(&mut self, text: &str) -> String {
        let name = type_name(text);
        let Some(mut number) = self.taken.get(&name).copied() else {
            self.taken.insert(name.clone(), 2);
            return name;
        };
        let mut numbered = format!("{name}{number}");
        while self.taken.contains_key(&numbered) {
            number += 1;
            numbered = format!("{name}{number}");
        }
        self.taken.insert(name, number + 1);
        self.taken.insert(numbered.clone(), 2);
        numbered
    }
}

/// Makes a valid name for a type of any text: `search_result` becomes `SearchResult`.
pub(super) fn type_name(text: &str) -> String {
    let words = text.split(|c| !is_letter(c) && !c.is_ascii_digit());
    let mut name = String::new();
    for word in words {
        let mut letters = word.chars();
        let Some(first) = letters.next() else {
            continue;
        };
        name.push(first.to_ascii_uppercase());
        name.extend(letters.take(MAX_LENGTH));
        if name.chars().count() >= MAX_LENGTH {
            break;
        }
    }
    let name: String = name.chars().take(MAX_LENGTH).collect();
    match name.chars().next() {
        None => "Type".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("Type{name}"),
        // Lower case beyond ASCII stays as it is, since types of the language have
        // ASCII names.
        Some(_) => name,
    }
}

/// Writes the name of a member, in quotes where TypeScript needs them.
#[must_use]
pub fn member_name(name: &str) -> String {
    match is_identifier(name) {
        true => name.to_owned(),
        false => quote(name),
    }
}

/// Returns whether a text is an identifier of ASCII characters. It may be a keyword,
/// which is a valid name of a member.
fn is_identifier(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let starts_well = text.starts_with(|c: char| is_part(c) && !c.is_ascii_digit());
    starts_well && text.chars().all(is_part)
}

fn is_letter(c: char) -> bool {
    let is_listed = || {
        LETTERS
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
    };
    c.is_ascii_alphabetic() || (!c.is_ascii() && is_listed())
}

#[cfg(test)]
mod tests {
    use super::{TypeNames, member_name, type_name};

    #[test]
    fn any_text_becomes_the_name_of_a_type() {
        let long = "x".repeat(1000);
        let cases = [
            ("Page", "Page"),
            ("search_result", "SearchResult"),
            ("Page[Item]", "PageItem"),
            ("HTTPError", "HTTPError"),
            ("string", "String"),
            ("class", "Class"),
            ("__proto__", "Proto"),
            ("2d point", "Type2dPoint"),
            ("", "Type"),
            ("*/ alert(1) /*", "Alert1"),
            ("a\nb\u{2028}c", "ABC"),
            ("größe", "Größe"),
            ("表", "表"),
            ("\u{202e}evil", "Evil"),
            ("😀", "Type"),
            (&long, &format!("X{}", "x".repeat(59))),
        ];
        for (text, expected) in cases {
            assert_eq!(type_name(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut names = TypeNames::new();
        let given = ["a", "A", "A2", "a!", "Record", "record", "A2"].map(|text| names.assign(text));
        assert_eq!(given, ["A", "A2", "A22", "A3", "Record2", "Record3", "A23"]);
    }

    #[test]
    fn many_names_that_are_the_same_take_no_time() {
        let mut names = TypeNames::new();
        for _ in 0..100_000 {
            names.assign("same");
        }
        assert_eq!(names.assign("same"), "Same100001");
    }

    #[test]
    fn names_of_members_are_quoted_where_they_must_be() {
        let cases = [
            ("seats", "seats"),
            ("class", "class"),
            ("__proto__", "__proto__"),
            ("$ref", "$ref"),
            ("2d", r#""2d""#),
            ("", r#""""#),
            ("a-b", r#""a-b""#),
            ("größe", r#""größe""#),
            ("a\nb", r#""a\nb""#),
            ("say \"hi\"", r#"'say "hi"'"#),
        ];
        for (name, expected) in cases {
            assert_eq!(member_name(name), expected, "{name}");
        }
    }
}
