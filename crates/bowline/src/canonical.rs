//! One text for all ways to write the same JSON.

use serde_json::Value;

/// The text of `value` with the members of every object in order.
///
/// Whether `serde_json` keeps members sorted depends on features that some
/// other crate of the program may have turned on, so it is not relied upon.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn order_and_space_do_not_matter() {
        let one = of(r#"{"b": [1, {"y": null, "x": "\u0041"}], "a": 2}"#);
        let other = of(r#"{"a":2,"b":[1,{"x":"A","y":null}]}"#);
        assert_eq!(one, other);
        assert_eq!(one, r#"{"a":2,"b":[1,{"x":"A","y":null}]}"#);
    }

    #[test]
    fn the_order_of_items_matters() {
        assert_ne!(of("[1,2]"), of("[2,1]"));
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(of(r#"{"a\"b":1}"#), r#"{"a\"b":1}"#);
    }
}
