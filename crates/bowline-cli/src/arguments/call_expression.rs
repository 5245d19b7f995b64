//! Call expressions: `tool(a: 1, b: "x")` or `tool(1, "x")`.

use std::borrow::Cow;

use super::{
    loose_json::{Scanner, is_name_char},
    word::{ArgumentValue, ArgumentWord},
};

/// A tool name, with the text of the parentheses after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallExpression<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(super) arguments: Option<&'a str>,
}

impl<'a> CallExpression<'a> {
    /// Parses a word such as `tool(a: 1)`. A known name is taken as it is,
    /// whatever characters it contains; so is a quoted one.
    ///
    /// # Errors
    ///
    /// Returns an error if a quote or parenthesis is not closed.
    pub(crate) fn new(
        word: &'a str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let exact = known.into_iter().filter_map(|name| {
            let inner = parenthesized(word.strip_prefix(name)?)?;
            Some((name, inner))
        });
        if let Some((name, inner)) = exact.max_by_key(|(name, _)| name.len()) {
            let name = name.into();
            return Ok(Self {
                name,
                arguments: inner,
            });
        }
        if word.starts_with('"') {
            let mut scanner = Scanner::new(word);
            let name = scanner.quoted_string()?.into();
            let inner = parenthesized(scanner.rest()).ok_or("expected parentheses")?;
            return Ok(Self {
                name,
                arguments: inner,
            });
        }
        let (name, rest) = word.split_at(word.find('(').unwrap_or(word.len()));
        let inner = parenthesized(rest).ok_or("missing `)`")?;
        let name = if rest.is_empty() { name } else { name.trim() };
        let name = name.into();
        Ok(Self {
            name,
            arguments: inner,
        })
    }

    /// Returns the name, if it has no parentheses.
    pub(crate) fn into_bare_name(self) -> Option<Cow<'a, str>> {
        self.arguments.is_none().then_some(self.name)
    }
}

/// Quotes a tool name so it can always be typed.
pub(crate) fn quoted_name(name: &str) -> Cow<'_, str> {
    // It looks like an option, or starts with a quote.
    match name.starts_with(['-', '"']) || name.is_empty() {
        true => serde_json::Value::from(name).to_string().into(),
        false => name.into(),
    }
}

/// Returns the text inside parentheses that span the whole string; `Some(None)`
/// for an empty string.
fn parenthesized(text: &str) -> Option<Option<&str>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(None);
    }
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    Some(Some(inner))
}

/// Parses the text inside the parentheses of a call.
pub(super) fn parse_arguments(text: &str) -> Result<Vec<ArgumentWord>, String> {
    let mut scanner = Scanner::new(text);
    let mut words = Vec::new();
    while scanner.peek().is_some() {
        words.push(parse_argument(&mut scanner)?);
        if !scanner.eat(',') {
            scanner.expect_end()?;
        }
    }
    Ok(words)
}

fn parse_argument(scanner: &mut Scanner<'_>) -> Result<ArgumentWord, String> {
    let name = match starts_with_name(scanner.rest()) {
        true => Some(scanner.name()?),
        false => None,
    };
    let argument_value = match scanner.peek() {
        Some('[' | '{' | '"' | '\'') => ArgumentValue::Json(scanner.parse_value(&[])?),
        _ => ArgumentValue::Text(scanner.bare_word(&[])?.to_owned()),
    };
    Ok(match (name, argument_value) {
        (None, argument_value) => ArgumentWord::Positional(argument_value),
        (Some(name), ArgumentValue::Json(value)) => ArgumentWord::Json { name, value },
        (Some(name), ArgumentValue::Text(text)) => ArgumentWord::Text { name, text },
    })
}

/// Returns whether the text starts with a name and a colon. A URL does not.
fn starts_with_name(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let quoted = matches!(scanner.peek(), Some('"' | '\''));
    let rest = if quoted {
        match scanner.quoted_string() {
            Ok(_) => scanner.rest().trim_start(),
            Err(_) => return false,
        }
    } else {
        let length = scanner.rest().find(|character| !is_name_char(character));
        match length {
            None | Some(0) => return false,
            Some(length) => scanner.rest()[length..].trim_start(),
        }
    };
    rest.starts_with(':') && !rest.starts_with("://")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ArgumentValue, ArgumentWord, CallExpression, parse_arguments, quoted_name};

    #[test]
    fn a_call_is_taken_apart() {
        check(&[], "add(1, 2)", "add", Some("1, 2"));
        check(&[], "add()", "add", Some(""));
        check(&[], "f(g(x))", "f", Some("g(x)"));
        check(&[], "add", "add", None);
        assert!(CallExpression::new("add(1", []).is_err());
    }

    #[track_caller]
    fn check(known: &[&str], word: &str, name: &str, inner: Option<&str>) {
        let expression = CallExpression::new(word, known.iter().copied()).expect(word);
        assert_eq!(
            (&*expression.name, expression.arguments),
            (name, inner),
            "{word}"
        );
    }

    #[test]
    fn a_name_that_there_is_counts_as_it_is() {
        let unusual = ["get", "get(x)", "get (y", "\"quoted\"", "a.b", "get "];
        check(&unusual, "get(x)", "get(x)", None);
        check(&unusual, "get(x)(1)", "get(x)", Some("1"));
        check(&unusual, "get(1)", "get", Some("1"));
        check(&unusual, "get (y", "get (y", None);
        check(&unusual, "\"quoted\"", "\"quoted\"", None);
        check(&unusual, "get ", "get ", None);
        // Also if no names are known.
        check(&[], "\"get(x)\"", "get(x)", None);
        check(&[], "\"get(x)\"(a: 1)", "get(x)", Some("a: 1"));
        for name in unusual.into_iter().chain(["-x", "", "\""]) {
            check(&[name], &quoted_name(name), name, None);
        }
    }

    #[test]
    fn names_places_and_values_are_told_apart() {
        let text = |name: &str, text: &str| ArgumentWord::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let given =
            parse_arguments(r#"1, "x, y", a: New York, b: [1, 'z'], "c d": true, https://x.y/"#);
        let expected = vec![
            ArgumentWord::Positional(ArgumentValue::Text("1".to_owned())),
            ArgumentWord::Positional(ArgumentValue::Json(json!("x, y"))),
            text("a", "New York"),
            ArgumentWord::Json {
                name: "b".to_owned(),
                value: json!([1, "z"]),
            },
            text("c d", "true"),
            ArgumentWord::Positional(ArgumentValue::Text("https://x.y/".to_owned())),
        ];
        assert_eq!(given, Ok(expected));
        assert_eq!(parse_arguments(""), Ok(vec![]));
        assert!(parse_arguments("a: ").is_err());
        assert!(parse_arguments("'x' y").is_err());
    }
}
