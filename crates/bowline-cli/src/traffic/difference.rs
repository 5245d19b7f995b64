//! Differences between two JSON values.

use serde_json::{Map, Value};

/// A difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The path, such as `content[0].text` or `tools[echo].title`.
    pub(crate) path: String,
    /// The recorded value; `None` if it was absent.
    pub(crate) recorded: Option<Value>,
    /// The actual value.
    pub(crate) actual: Option<Value>,
}

/// Returns all differences between two values.
pub(crate) fn differences(recorded: &Value, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(actual), &mut found);
    found
}

fn compare(
    path: &str,
    recorded: Option<&Value>,
    actual: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (recorded, actual) {
        (Some(Value::Object(recorded)), Some(Value::Object(actual))) => {
            compare_objects(path, recorded, actual, found);
        }
        (Some(Value::Array(recorded)), Some(Value::Array(actual))) => {
            compare_arrays(path, recorded, actual, found);
        }
        (recorded, actual) if recorded == actual => {}
        (recorded, actual) => found.push(Difference {
            path: path.to_owned(),
            recorded: recorded.cloned(),
            actual: actual.cloned(),
        }),
    }
}

fn compare_objects(
    path: &str,
    recorded: &Map<String, Value>,
    actual: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let added = actual.keys().filter(|key| !recorded.contains_key(*key));
    for key in recorded.keys().chain(added) {
        let path = member_path(path, key);
        compare(&path, recorded.get(key), actual.get(key), found);
    }
}

fn compare_arrays(path: &str, recorded: &[Value], actual: &[Value], found: &mut Vec<Difference>) {
    let (Some(recorded_names), Some(actual_names)) = (item_names(recorded), item_names(actual))
    else {
        for index in 0..recorded.len().max(actual.len()) {
            compare(
                &format!("{path}[{index}]"),
                recorded.get(index),
                actual.get(index),
                found,
            );
        }
        return;
    };
    // Lists of named items are compared by name, so an added item does not make
    // all later ones differ.
    let position = |names: &[&str], name: &str| names.iter().position(|other| *other == name);
    let added = actual_names
        .iter()
        .filter(|name| !recorded_names.contains(*name));
    for name in recorded_names.iter().chain(added) {
        let recorded = position(&recorded_names, name).map(|index| &recorded[index]);
        let actual = position(&actual_names, name).map(|index| &actual[index]);
        compare(&format!("{path}[{name}]"), recorded, actual, found);
    }
    let common = |names: &[&str], others: &[&str]| -> Vec<Value> {
        let common = names.iter().filter(|name| others.contains(*name));
        common.map(|name| Value::from(*name)).collect()
    };
    let orders = (
        common(&recorded_names, &actual_names),
        common(&actual_names, &recorded_names),
    );
    if orders.0 != orders.1 {
        found.push(Difference {
            path: format!("{path} (order)"),
            recorded: Some(Value::from(orders.0)),
            actual: Some(Value::from(orders.1)),
        });
    }
}

/// Returns the names of the items in a list, if all have unique ones.
fn item_names(items: &[Value]) -> Option<Vec<&str>> {
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

fn member_path(path: &str, key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match (path, !key.is_empty() && key.chars().all(is_plain)) {
        ("", true) => key.to_owned(),
        (_, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{key:?}]"),
    }
}

/// Returns whether a pattern covers a path or one of its parents. `*` matches
/// any one key or index.
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (path_segments(pattern), path_segments(path));
    pattern.len() <= path.len()
        && pattern
            .iter()
            .zip(&path)
            .all(|(expected_part, part)| *expected_part == "*" || expected_part == part)
}

fn path_segments(path: &str) -> Vec<&str> {
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
    fn check(recorded: &Value, actual: &Value, expected: &[&str]) {
        let shown = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_string());
        let found: Vec<String> = differences(recorded, actual)
            .into_iter()
            .map(|it| format!("{}: {} {}", it.path, shown(it.recorded), shown(it.actual)))
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
        let recorded = json!({"tools": [{"name": "a"}, {"name": "c", "x": 1}]});
        let actual = json!({"tools": [{"name": "a"}, {"name": "b"}, {"name": "c", "x": 2}]});
        check(
            &recorded,
            &actual,
            &["tools[c].x: 1 2", "tools[b]: - {\"name\":\"b\"}"],
        );
        let reordered = json!({"tools": [{"name": "c", "x": 1}, {"name": "a"}]});
        check(
            &recorded,
            &reordered,
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
