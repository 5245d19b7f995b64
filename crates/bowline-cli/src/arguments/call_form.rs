//! The form of a call: `tool(a: 1, b: "x")`, or `tool(1, "x")`.

use super::{
    relaxed::{Scanner, is_name},
    word::{Given, Placed},
};

/// Takes a word such as `tool(a: 1)` apart: the name, and what stands in the
/// parentheses.
pub(crate) fn split_call(word: &str) -> (&str, Option<&str>) {
    let inside = word
        .split_once('(')
        .and_then(|(name, rest)| Some((name, rest.trim_end().strip_suffix(')')?)));
    match inside {
        Some((name, arguments)) => (name.trim(), Some(arguments)),
        None => (word, None),
    }
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
        Some('[' | '{' | '"' | '\'') => Placed::Json(scanner.value(&[])?),
        _ => Placed::Text(scanner.bare(&[])?.to_owned()),
    };
    Ok(match (name, placed) {
        (None, placed) => Given::Placed(placed),
        (Some(name), Placed::Json(value)) => Given::Json { name, value },
        (Some(name), Placed::Text(text)) => Given::Text { name, text },
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

    use super::{Given, Placed, parse, split_call};

    #[test]
    fn a_call_is_taken_apart() {
        assert_eq!(split_call("add(1, 2)"), ("add", Some("1, 2")));
        assert_eq!(split_call("add()"), ("add", Some("")));
        assert_eq!(split_call("f(g(x))"), ("f", Some("g(x)")));
        assert_eq!(split_call("add"), ("add", None));
        assert_eq!(split_call("add(1"), ("add(1", None));
    }

    #[test]
    fn names_places_and_values_are_told_apart() {
        let text = |name: &str, text: &str| Given::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let given = parse(r#"1, "x, y", a: New York, b: [1, 'z'], "c d": true, https://x.y/"#);
        let expected = vec![
            Given::Placed(Placed::Text("1".to_owned())),
            Given::Placed(Placed::Json(json!("x, y"))),
            text("a", "New York"),
            Given::Json {
                name: "b".to_owned(),
                value: json!([1, "z"]),
            },
            text("c d", "true"),
            Given::Placed(Placed::Text("https://x.y/".to_owned())),
        ];
        assert_eq!(given, Ok(expected));
        assert_eq!(parse(""), Ok(vec![]));
        assert!(parse("a: ").is_err());
        assert!(parse("'x' y").is_err());
    }
}
