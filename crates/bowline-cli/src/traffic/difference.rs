//! What differs between two JSON values, and where.

use serde_json::{Map, Value};

/// A place at which two values differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Where, such as `content[0].text` or `tools[echo].title`.
    pub(crate) path: String,
    /// What was there; none where nothing was.
    pub(crate) was: Option<Value>,
    /// What is there now.
    pub(crate) is: Option<Value>,
}

/// All places at which two values differ.
pub(crate) fn differences(was: &Value, is: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(was), Some(is), &mut found);
    found
}

fn compare(path: &str, was: Option<&Value>, is: Option<&Value>, found: &mut Vec<Difference>) {
    match (was, is) {
        (Some(Value::Object(was)), Some(Value::Object(is))) => objects(path, was, is, found),
        (Some(Value::Array(was)), Some(Value::Array(is))) => arrays(path, was, is, found),
        (was, is) if was == is => {}
        (was, is) => found.push(Difference {
            path: path.to_owned(),
            was: was.cloned(),
            is: is.cloned(),
        }),
    }
}

fn objects(
    path: &str,
    was: &Map<String, Value>,
    is: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let added = is.keys().filter(|key| !was.contains_key(*key));
    for key in was.keys().chain(added) {
        let path = member(path, key);
        compare(&path, was.get(key), is.get(key), found);
    }
}

fn arrays(path: &str, was: &[Value], is: &[Value], found: &mut Vec<Difference>) {
    let (Some(names_were), Some(names_are)) = (names(was), names(is)) else {
        for at in 0..was.len().max(is.len()) {
            compare(&format!("{path}[{at}]"), was.get(at), is.get(at), found);
        }
        return;
    };
    // Lists of named things are compared by name, so that one that was added
    // does not make all that follow differ.
    let place = |names: &[&str], name: &str| names.iter().position(|other| *other == name);
    let added = names_are.iter().filter(|name| !names_were.contains(*name));
    for name in names_were.iter().chain(added) {
        let was = place(&names_were, name).map(|at| &was[at]);
        let is = place(&names_are, name).map(|at| &is[at]);
        compare(&format!("{path}[{name}]"), was, is, found);
    }
    let common = |names: &[&str], others: &[&str]| -> Vec<Value> {
        let common = names.iter().filter(|name| others.contains(*name));
        common.map(|name| Value::from(*name)).collect()
    };
    let orders = (
        common(&names_were, &names_are),
        common(&names_are, &names_were),
    );
    if orders.0 != orders.1 {
        found.push(Difference {
            path: format!("{path} (order)"),
            was: Some(Value::from(orders.0)),
            is: Some(Value::from(orders.1)),
        });
    }
}

/// The names of things in a list, if all have one of their own.
fn names(items: &[Value]) -> Option<Vec<&str>> {
    let key = ["name", "uri", "uriTemplate"]
        .into_iter()
        .find(|key| items.first().is_some_and(|item| item.get(key).is_some()))?;
    let names: Option<Vec<&str>> = items.iter().map(|item| item.get(key)?.as_str()).collect();
    names.filter(|names| {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    })
}

fn member(path: &str, key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match (path, !key.is_empty() && key.chars().all(plain)) {
        ("", true) => key.to_owned(),
        (_, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{key:?}]"),
    }
}

/// Whether a pattern covers a path: the same, or something above it. `*` stands
/// for any one key or place in a list.
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (parts(pattern), parts(path));
    pattern.len() <= path.len()
        && pattern
            .iter()
            .zip(&path)
            .all(|(wanted, part)| *wanted == "*" || wanted == part)
}

fn parts(path: &str) -> Vec<&str> {
    let parts = path.split(['.', '[', ']']);
    parts
        .map(|part| part.trim_matches('"'))
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(was: &Value, is: &Value, expected: &[&str]) {
        let shown = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_string());
        let found: Vec<String> = differences(was, is)
            .into_iter()
            .map(|it| format!("{}: {} {}", it.path, shown(it.was), shown(it.is)))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn differences_are_named_by_their_place() {
        check(&json!({"a": [1, 2]}), &json!({"a": [1, 2]}), &[]);
        check(&json!(1), &json!("1"), &[": 1 \"1\""]);
        check(
            &json!({"a": {"b c": 1}, "d": [1, 2], "gone": null}),
            &json!({"a": {"b c": 2}, "d": [1], "new": true}),
            &[
                "a[\"b c\"]: 1 2",
                "d[1]: 2 -",
                "gone: null -",
                "new: - true",
            ],
        );
    }

    #[test]
    fn lists_of_named_things_are_compared_by_name() {
        let was = json!({"tools": [{"name": "a"}, {"name": "c", "x": 1}]});
        let is = json!({"tools": [{"name": "a"}, {"name": "b"}, {"name": "c", "x": 2}]});
        check(
            &was,
            &is,
            &["tools[c].x: 1 2", "tools[b]: - {\"name\":\"b\"}"],
        );
        let turned = json!({"tools": [{"name": "c", "x": 1}, {"name": "a"}]});
        check(
            &was,
            &turned,
            &["tools (order): [\"a\",\"c\"] [\"c\",\"a\"]"],
        );
    }

    #[test]
    fn a_pattern_covers_what_is_below() {
        let cases = [
            ("content", "content[0].text", true),
            ("content[*].text", "content[0].text", true),
            ("content[1]", "content[0].text", false),
            ("content[0].text", "content", false),
            ("tools[echo]", "tools[echo].title", true),
            ("a", "ab", false),
            ("a[\"b c\"]", "a[\"b c\"].d", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(covers(pattern, path), expected, "{pattern} {path}");
        }
    }
}
