//! The entry of a server as written, before references are expanded.

use std::fmt;

use serde_json::{Map, Value};

/// An entry as written in its file: references are not expanded, so it contains no
/// values from the environment.
///
/// Show it to the user before running a command from someone else's file, and remember
/// it once the user has agreed. The user's variables may change later; the entry may
/// not.
///
/// ```
/// use bowline::config::{Environment, Loader};
///
/// let environment: Environment = [("KEY", "s3cret")].into_iter().collect();
/// let text = r#"{"mcpServers": {"notes": {"env": {"KEY": "${KEY}"}, "command": "notes"}}}"#;
/// let file = Loader::new(environment).parse(text);
/// let raw = &file.servers[0].raw;
/// assert_eq!(raw.get("command"), Some(&"notes".into()));
/// assert_eq!(
///     raw.canonical(),
///     r#"{"entry":{"command":"notes","env":{"KEY":"${KEY}"}},"envFile":null}"#,
/// );
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct RawEntry {
    pub(super) entry: Map<String, Value>,
    /// The contents of the entry's environment file.
    pub(super) env_file: Option<String>,
}

impl RawEntry {
    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry.get(key)
    }

    /// Returns the whole entry. A program that shows an entry to the user should show
    /// all of it.
    #[must_use]
    pub fn entry(&self) -> &Map<String, Value> {
        &self.entry
    }

    /// Returns the contents of the file named by `envFile`, which is part of the entry
    /// just like `env`.
    #[must_use]
    pub fn env_file(&self) -> Option<&str> {
        self.env_file.as_deref()
    }

    /// Returns everything as one string, which only changes if the meaning changes: the
    /// order of keys, white space and comments do not matter. A program that remembers
    /// what it was allowed to run stores a digest of this.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = String::from("{\"entry\":");
        write_object(&self.entry, &mut out);
        out.push_str(",\"envFile\":");
        match &self.env_file {
            Some(file) => out.push_str(&Value::from(file.as_str()).to_string()),
            None => out.push_str("null"),
        }
        out.push('}');
        out
    }
}

impl fmt::Debug for RawEntry {
    /// Shows keys only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entry.keys()).finish()
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => write_object(members, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Writes the members sorted by name, whichever order the map keeps.
fn write_object(members: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write(value, out);
    }
    out.push('}');
}
