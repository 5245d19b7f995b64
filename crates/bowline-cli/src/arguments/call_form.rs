//! The form of a call: `tool(a: 1, b: "x")`, or `tool(1, "x")`.

use std::borrow::Cow;

use super::{
    relaxed::{Scanner, is_name},
    word::{Given, Typed},
};

/// A tool that is named, with what stood in parentheses after its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(super) inside: Option<&'a str>,
}

impl<'a> Called<'a> {
    /// Takes a word such as `tool(a: 1)` apart. A name that there is counts as
    /// it is, whatever characters are in it; so does one in quotation marks.
    ///
    /// # Errors
    ///
    /// Where what begins does not end.
    pub(crate) fn new(
        word: &'a str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let as_it_is = known.into_iter().filter_map(|name| {
            let inside = enclosed(word.strip_prefix(name)?)?;
            Some((name, inside))
        });
        if let Some((name, inside)) = as_it_is.max_by_key(|(name, _)| name.len()) {
            let name = name.into();
            return Ok(Self { name, inside });
        }
        if word.starts_with('"') {
            let mut scanner = Scanner::new(word);
            let name = scanner.quoted()?.into();
            let inside = enclosed(scanner.rest()).ok_or("parentheses are expected")?;
            return Ok(Self { name, inside });
        }
        let (name, rest) = word.split_at(word.find('(').unwrap_or(word.len()));
        let inside = enclosed(rest).ok_or("a `)` is missing")?;
        let name = if rest.is_empty() { name } else { name.trim() };
        let name = name.into();
        Ok(Self { name, inside })
    }

    /// The name, if nothing is given with it.
    pub(crate) fn alone(self) -> Option<Cow<'a, str>> {
        self.inside.is_none().then_some(self.name)
    }
}

/// The name of a tool, as it can be typed in any case.
pub(crate) fn spelled(name: &str) -> Cow<'_, str> {
    // An option, or a quotation mark that is part of the name.
    match name.starts_with(['-', '"']) || name.is_empty() {
        true => serde_json::Value::from(name).to_string().into(),
        false => name.into(),
    }
}

/// What stands in parentheses, if all of it does; nothing in nothing.
fn enclosed(text: &str) -> Option<Option<&str>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(None);
    }
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    Some(Some(inside))
}

/// Reads what stands in the parentheses of a call.
pub(super) fn parse(text: &str) -> Result<Vec<Given>, String> {
    let mut scanner = Scanner::new(text);
    let mut given = Vec::new();
    while scanner.peek().is_some() {
        given.push(argument(&mut scanner)?);
        if !scanner.take(',') {
            scanner.end()?;
        }
    }
    Ok(given)
}

fn argument(scanner: &mut Scanner<'_>) -> Result<Given, String> {
    let name = match begins_with_name(scanner.rest()) {
        true => Some(scanner.name()?),
        false => None,
    };
    let placed = match scanner.peek() {
        Some('[' | '{' | '"' | '\'') => Typed::Json(scanner.value(&[])?),
        _ => Typed::Text(scanner.bare(&[])?.to_owned()),
    };
    Ok(match (name, placed) {
        (None, placed) => Given::Placed(placed),
        (Some(name), Typed::Json(value)) => Given::Json { name, value },
        (Some(name), Typed::Text(text)) => Given::Text { name, text },
    })
}

/// Whether a name and a colon come first. An address is no name.
fn begins_with_name(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let quoted = matches!(scanner.peek(), Some('"' | '\''));
    let rest = if quoted {
        match scanner.quoted() {
            Ok(_) => scanner.rest().trim_start(),
            Err(_) => return false,
        }
    } else {
        let length = scanner.rest().find(|character| !is_name(character));
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

    use super::{Called, Given, Typed, parse, spelled};

    #[test]
    fn a_call_is_taken_apart() {
        check(&[], "add(1, 2)", "add", Some("1, 2"));
        check(&[], "add()", "add", Some(""));
        check(&[], "f(g(x))", "f", Some("g(x)"));
        check(&[], "add", "add", None);
        assert!(Called::new("add(1", []).is_err());
    }

    #[track_caller]
    fn check(known: &[&str], word: &str, name: &str, inside: Option<&str>) {
        let called = Called::new(word, known.iter().copied()).expect(word);
        assert_eq!((&*called.name, called.inside), (name, inside), "{word}");
    }

    #[test]
    fn a_name_that_there_is_counts_as_it_is() {
        let odd = ["get", "get(x)", "get (y", "\"quoted\"", "a.b", "get "];
        check(&odd, "get(x)", "get(x)", None);
        check(&odd, "get(x)(1)", "get(x)", Some("1"));
        check(&odd, "get(1)", "get", Some("1"));
        check(&odd, "get (y", "get (y", None);
        check(&odd, "\"quoted\"", "\"quoted\"", None);
        check(&odd, "get ", "get ", None);
        // Also where nobody knows what there is.
        check(&[], "\"get(x)\"", "get(x)", None);
        check(&[], "\"get(x)\"(a: 1)", "get(x)", Some("a: 1"));
        for name in odd.into_iter().chain(["-x", "", "\""]) {
            check(&[name], &spelled(name), name, None);
        }
    }

    #[test]
    fn names_places_and_values_are_told_apart() {
        let text = |name: &str, text: &str| Given::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let given = parse(r#"1, "x, y", a: New York, b: [1, 'z'], "c d": true, https://x.y/"#);
        let expected = vec![
            Given::Placed(Typed::Text("1".to_owned())),
            Given::Placed(Typed::Json(json!("x, y"))),
            text("a", "New York"),
            Given::Json {
                name: "b".to_owned(),
                value: json!([1, "z"]),
            },
            text("c d", "true"),
            Given::Placed(Typed::Text("https://x.y/".to_owned())),
        ];
        assert_eq!(given, Ok(expected));
        assert_eq!(parse(""), Ok(vec![]));
        assert!(parse("a: ").is_err());
        assert!(parse("'x' y").is_err());
    }
}
