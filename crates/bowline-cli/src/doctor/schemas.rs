//! Checks tool definitions against the protocol and common client limits.

use std::collections::BTreeSet;

use bowline::model::Tool;
use bowline_schema::Validator;
use serde_json::Value;

/// The maximum length of a tool name in the protocol, and the maximum that many
/// models accept.
const MAX_NAME: usize = 128;
const RECOMMENDED_MAX_NAME: usize = 64;

/// A problem with a tool's definition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolProblem {
    pub(super) tool: String,
    pub(super) message: String,
    pub(super) advice: &'static str,
}

/// Returns the problems of all tool definitions.
pub(super) fn tool_problems(tools: &[Tool]) -> Vec<ToolProblem> {
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for tool in tools {
        let mut add = |message: String, advice| {
            let tool = tool.name.clone();
            problems.push(ToolProblem {
                tool,
                message,
                advice,
            });
        };
        if !names.insert(&tool.name) {
            add("duplicate name".to_owned(), "rename one of them");
        }
        if let Some((message, advice)) = name_problem(&tool.name) {
            add(message, advice);
        }
        if tool.description.as_ref().is_none_or(String::is_empty) {
            add(
                "description missing".to_owned(),
                "add one: models choose tools by their descriptions",
            );
        }
        let schemas = [
            ("inputSchema", &tool.input_schema),
            ("outputSchema", &tool.output_schema),
        ];
        for (keyword, schema) in schemas {
            let schema = schema
                .as_ref()
                .map(|schema| serde_json::from_str(schema.get()));
            let why = match schema {
                Some(Ok(schema)) => schema_problem(&schema),
                Some(Err(error)) => Some(error.to_string()),
                None if keyword == "inputSchema" => Some("missing".to_owned()),
                None => None,
            };
            if let Some(why) = why {
                add(format!("{keyword}: {why}"), "fix the schema in the server");
            }
        }
    }
    problems
}

fn name_problem(name: &str) -> Option<(String, &'static str)> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = name.chars().count();
    if name.is_empty() || !name.chars().all(is_allowed) {
        let message = "its name contains characters other than letters, digits, `_`, `-` and `.`";
        return Some((
            message.to_owned(),
            "rename it: many clients refuse such names",
        ));
    }
    if length > MAX_NAME {
        let message = format!(
            "its name has {length} characters, which exceeds the limit of \
             {MAX_NAME}"
        );
        return Some((message, "shorten it: clients may refuse it"));
    }
    (length > RECOMMENDED_MAX_NAME).then(|| {
        let message = format!(
            "its name has {length} characters; many models accept at most {RECOMMENDED_MAX_NAME}"
        );
        (message, "shorten it")
    })
}

fn schema_problem(schema: &Value) -> Option<String> {
    match &schema["type"] {
        Value::String(kind) if kind == "object" => {}
        Value::Null => return Some("its type is missing; it must be object".to_owned()),
        other => return Some(format!("its type is {other}; it must be object")),
    }
    Validator::new(schema).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use bowline::RawJson;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, schema: &Value, message: &[&str]) {
        let mut tool = Tool::new(name);
        tool.description = Some("Does something".to_owned());
        tool.input_schema = RawJson::encode(schema).ok();
        let found = tool_problems(&[tool]);
        assert_eq!(found.len(), message.len(), "{found:?}");
        for (problem, part) in found.iter().zip(message) {
            assert!(problem.message.contains(part), "{problem:?}");
        }
    }

    #[test]
    fn faults_of_tools() {
        let sound = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        check("sound", &sound, &[]);
        check("two words", &sound, &["characters other than"]);
        check(&"x".repeat(65), &sound, &["65 characters; many"]);
        check(&"x".repeat(129), &sound, &["exceeds the limit"]);
        check("text", &json!({"type": "string"}), &["must be object"]);
        check("untyped", &json!({}), &["type is missing"]);
        let bad = json!({"type": "object", "properties": {"a": {"type": "strin"}}});
        check("misspelt", &bad, &["inputSchema"]);
        let two = [Tool::new("a"), Tool::new("a")];
        assert!(
            tool_problems(&two)
                .iter()
                .any(|problem| problem.message.contains("duplicate name"))
        );
    }
}
