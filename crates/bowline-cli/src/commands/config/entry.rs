//! A server entry to be written into a configuration file.

use bowline::config::ServerEntry;
use serde_json::Value;

/// An entry, with its keys in the order people usually write them.
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

    /// Formats the entry as JSON, one key per line.
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

    /// Returns the entry as a JSON value.
    pub(super) fn to_value(&self) -> Value {
        self.members.iter().cloned().collect()
    }

    /// Returns the variables and headers with literal values, which may be
    /// secrets.
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

    /// Returns a short summary of the server.
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

    /// Converts another program's entry into Bowline's format.
    pub(super) fn from_server(server: &ServerEntry) -> Self {
        Self {
            members: server.to_entry().into_iter().collect(),
        }
    }
}

/// Formats an object with one member per line, indented one level.
fn indented_json(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.replace('\n', "\n  ")
}

/// Formats a value on one line, with spaces after commas.
fn inline_json(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
