//! Identifiers of Rust for any names.

use super::super::{
    hidden::is_hidden,
    words::{pascal_case, snake_case},
};

/// Keywords, which may be names when they are written as raw identifiers.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
/// Keywords that cannot be names at all.
const RESERVED: &[&str] = &["crate", "self", "super"];
/// Names of types that items use, so no item may have them.
const USED_TYPES: &[&str] = &[
    "Box",
    "Default",
    "Deserialize",
    "Into",
    "None",
    "Option",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "Vec",
];

/// Returns the identifier of a field: `type` is `r#type`. Names without letters and
/// digits are called `field`.
///
/// ```
/// use bowline_schema::print::rust::field_name;
///
/// assert_eq!(field_name("maxResults"), "max_results");
/// assert_eq!(field_name("type"), "r#type");
/// assert_eq!(field_name("2nd"), "_2nd");
/// ```
#[must_use]
pub fn field_name(name: &str) -> String {
    value_name(name, "field")
}

/// Returns the identifier of a function. Names without letters and digits are called
/// `function`.
#[must_use]
pub fn function_name(name: &str) -> String {
    value_name(name, "function")
}

fn value_name(name: &str, fallback: &str) -> String {
    let snake = snake_case(name);
    match snake.as_str() {
        "" => fallback.to_owned(),
        reserved if RESERVED.contains(&reserved) => format!("{reserved}_"),
        keyword if KEYWORDS.contains(&keyword) => format!("r#{keyword}"),
        digit if digit.starts_with(|first: char| first.is_ascii_digit()) => format!("_{digit}"),
        _ => snake,
    }
}

/// Returns the identifier of a type or of a variant. Names without letters and digits
/// are called `Unnamed`.
#[must_use]
pub fn type_name(name: &str) -> String {
    lettered_type_name(name).unwrap_or_else(|| "Unnamed".to_owned())
}

/// Returns the identifier of a type or of a variant, if the name has letters or digits.
pub(super) fn lettered_type_name(name: &str) -> Option<String> {
    let pascal = pascal_case(name);
    match pascal.as_str() {
        "" => None,
        used if USED_TYPES.contains(&used) => Some(format!("{used}_")),
        digit if digit.starts_with(|first: char| first.is_ascii_digit()) => {
            Some(format!("_{digit}"))
        }
        _ => Some(pascal),
    }
}

/// Returns a string literal. What cannot be seen, or changes the direction of text, is
/// escaped.
///
/// ```
/// use bowline_schema::print::rust::string_literal;
///
/// assert_eq!(string_literal("a \"b\"\u{202e}"), r#""a \"b\"\u{202e}""#);
/// ```
#[must_use]
pub fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '\n' | '\r' | '\t' => literal.extend(character.escape_default()),
            hidden if is_hidden(hidden) => literal.extend(hidden.escape_unicode()),
            visible => literal.push(visible),
        }
    }
    literal.push('"');
    literal
}
