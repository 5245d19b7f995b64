//! What is written of a server into a configuration.

use bowline::config::ServerEntry;
use serde_json::Value;

/// An entry: its keys in the order in which people write them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry {
    members: Vec<(String, Value)>,
}

impl Entry {
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let is_empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty);
        if !is_empty {
            self.members.push((key.to_owned(), value));
        }
    }

    /// The entry as JSON, a key to a line.
    pub(super) fn to_json_string(&self) -> String {
        let line = |(key, value): &(String, Value)| {
            let value = match value {
                Value::Object(_) => indented_json(value),
                other => inline_json(other),
            };
            format!("  {}: {value}", Value::from(key.as_str()))
        };
        let lines: Vec<String> = self.members.iter().map(line).collect();
        format!("{{\n{}\n}}", lines.join(",\n"))
    }

    /// The same as one value.
    pub(super) fn to_value(&self) -> Value {
        self.members.iter().cloned().collect()
    }

    /// The variables and headers whose values stand here as they are, and may
    /// be secrets.
    pub(super) fn literals(&self) -> Vec<String> {
        let mut literals = Vec::new();
        for (key, value) in &self.members {
            for (name, value) in value.as_object().into_iter().flatten() {
                let is_literal = value.as_str().is_some_and(|text| !text.contains("${"));
                if matches!(key.as_str(), "env" | "headers") && is_literal {
                    literals.push(name.clone());
                }
            }
            let has_query = value.as_str().is_some_and(|url| url.contains(['?', '@']));
            if key == "url" && has_query {
                literals.push("the url".to_owned());
            }
        }
        literals
    }

    /// The server, in few words.
    pub(super) fn summary(&self) -> String {
        let get = |name: &str| {
            let found = self.members.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value)
        };
        if let Some(url) = get("url").and_then(Value::as_str) {
            return url.split(['?', '#']).next().unwrap_or_default().to_owned();
        }
        let command = get("command").and_then(Value::as_str).unwrap_or_default();
        match get("args").and_then(Value::as_array).map_or(0, Vec::len) {
            0 => command.to_owned(),
            _ => format!("{command} …"),
        }
    }

    /// What another program's entry says, in Bowline's words.
    pub(super) fn from_server(server: &ServerEntry) -> Self {
        Self {
            members: server.to_entry().into_iter().collect(),
        }
    }
}

/// An object with a member to a line, one level in.
fn indented_json(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.replace('\n', "\n  ")
}

/// A value on one line, with blanks after commas.
fn inline_json(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
