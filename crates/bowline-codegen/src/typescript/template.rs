//! The variables of URI templates.

use bowline_schema::shape::Shape;
use serde_json::{Map, Value, json};

/// Returns the variables of a template as the members of an object. Those of a query
/// are optional. `None` if the template is not valid, or has no variables.
pub(super) fn variables(template: &str) -> Option<Shape> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        if before.contains('}') {
            return None;
        }
        rest = after;
        let names = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        if expression.len() - names.len() > 1 {
            return None;
        }
        for name in names.split(',') {
            let name = variable(name)?;
            properties.insert(name.to_owned(), json!({"type": "string"}));
            if !expression.starts_with(['?', '&']) {
                required.push(name);
            }
        }
    }
    let is_valid = !rest.contains('}') && !properties.is_empty();
    is_valid.then(|| {
        Shape::new(json!({
            "type": "object",
            "properties": Value::Object(properties),
            "required": required,
            "additionalProperties": false,
        }))
    })
}

/// Returns the name of a variable without its modifier.
fn variable(text: &str) -> Option<&str> {
    let (name, length) = text.split_once(':').unwrap_or((text, "1"));
    let name = name.trim_end_matches('*');
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.%-".contains(c);
    let is_valid =
        !name.is_empty() && name.chars().all(is_part) && length.chars().all(|c| c.is_ascii_digit());
    is_valid.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_found() {
        let cases = [
            ("file:///{path}", Some("path: required")),
            ("a://{+b}/c{?d,e}{&f*}", Some("b: required, d, e, f")),
            ("a://{b:3}{/c}", Some("b: required, c: required")),
            ("a://b", None),
            ("a://{b", None),
            ("a://b}", None),
            ("a://{}", None),
            ("a://{b c}", None),
            ("a://{??b}", None),
        ];
        for (template, expected) in cases {
            let found = variables(template).map(|shape| {
                let schema = shape.document();
                let names = schema["properties"].as_object().expect("an object").keys();
                let required = schema["required"].as_array().expect("an array");
                let described = names.map(|name| match required.iter().any(|it| it == name) {
                    true => format!("{name}: required"),
                    false => name.clone(),
                });
                described.collect::<Vec<_>>().join(", ")
            });
            assert_eq!(found.as_deref(), expected, "{template}");
        }
    }
}
