//! Names in the conventions of programming languages.

use std::fmt::Write as _;

/// Splits a name into lowercase words: `getHTTPStatus_code2` into `get`, `http`,
/// `status` and `code2`. What is not a letter or a digit of ASCII separates words;
/// letters of other alphabets become their code points, so no name is lost.
///
/// ```
/// use bowline_schema::print::words::words;
///
/// assert_eq!(words("getHTTPStatus_code2"), ["get", "http", "status", "code2"]);
/// assert_eq!(words("größe"), ["gr", "u00f6", "u00df", "e"]);
/// assert_eq!(words("<="), [""; 0]);
/// ```
#[must_use]
pub fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(name, |word| words.push(word.to_owned()));
    words
}

/// Returns a name in `snake_case`. Empty if it has no letters and no digits.
#[must_use]
pub fn snake_case(name: &str) -> String {
    let mut cased = String::with_capacity(name.len());
    for_each_word(name, |word| {
        cased.push_str(if cased.is_empty() { "" } else { "_" });
        cased.push_str(word);
    });
    cased
}

/// Returns a name in `PascalCase`. Empty if it has no letters and no digits.
#[must_use]
pub fn pascal_case(name: &str) -> String {
    let mut cased = String::with_capacity(name.len());
    for_each_word(name, |word| push_capitalized(&mut cased, word));
    cased
}

/// Returns a name in `camelCase`. Empty if it has no letters and no digits.
#[must_use]
pub fn camel_case(name: &str) -> String {
    let mut cased = String::with_capacity(name.len());
    for_each_word(name, |word| match cased.is_empty() {
        true => cased.push_str(word),
        false => push_capitalized(&mut cased, word),
    });
    cased
}

/// Words are ASCII.
fn push_capitalized(out: &mut String, word: &str) {
    let mut chars = word.chars();
    out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
    out.push_str(chars.as_str());
}

/// Calls a function for each of the [`words`] of a name.
fn for_each_word(name: &str, mut then: impl FnMut(&str)) {
    let mut word = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    let mut previous = ' ';
    while let Some(current) = chars.next() {
        let starts_word = current.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || previous.is_ascii_digit()
                || (previous.is_ascii_uppercase()
                    && chars.peek().is_some_and(char::is_ascii_lowercase)));
        let is_part = current.is_ascii_alphanumeric();
        if (starts_word || !is_part) && !word.is_empty() {
            then(&word);
            word.clear();
        }
        if is_part {
            word.push(current.to_ascii_lowercase());
        } else if current.is_alphanumeric() {
            // Writing to a string cannot fail.
            let _ = write!(word, "u{:04x}", u32::from(current));
            then(&word);
            word.clear();
        }
        previous = current;
    }
    if !word.is_empty() {
        then(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::{camel_case, pascal_case, snake_case};

    #[test]
    fn names_are_written_in_every_convention() {
        let cases = [
            ("create_issue", "create_issue", "CreateIssue", "createIssue"),
            ("get-sum", "get_sum", "GetSum", "getSum"),
            ("listRepos", "list_repos", "ListRepos", "listRepos"),
            ("HTTPServer", "http_server", "HttpServer", "httpServer"),
            ("a.b/c d", "a_b_c_d", "ABCD", "aBCD"),
            ("v2beta", "v2beta", "V2beta", "v2beta"),
            ("Mode2D", "mode2_d", "Mode2D", "mode2D"),
            ("__private__", "private", "Private", "private"),
            ("天气", "u5929_u6c14", "U5929U6c14", "u5929U6c14"),
            ("!", "", "", ""),
        ];
        for (name, snake, pascal, camel) in cases {
            assert_eq!(snake_case(name), snake, "{name}");
            assert_eq!(pascal_case(name), pascal, "{name}");
            assert_eq!(camel_case(name), camel, "{name}");
        }
    }
}
