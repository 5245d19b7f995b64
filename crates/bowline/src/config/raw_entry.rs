//! What a file says of a server, before references are replaced.

use std::fmt;

use serde_json::{Map, Value};

/// An entry as it stands in its file: references are references, and nothing
/// of the environment is in it.
///
/// It is what a person should see before a command of somebody else's is run,
/// and what a program remembers once they have said yes. Variables of the
/// person's may change meanwhile; what the file makes of them may not.
///
/// ```
/// use bowline::config::{Environment, Loader};
///
/// let environment: Environment = [("KEY", "s3cret")].into_iter().collect();
/// let text = r#"{"mcpServers": {"notes": {"env": {"KEY": "${KEY}"}, "command": "notes"}}}"#;
/// let file = Loader::new(environment).parse(text);
/// let written = &file.servers[0].written;
/// assert_eq!(raw.get("command"), Some(&"notes".into()));
/// assert_eq!(
///     raw.canonical(),
///     r#"{"entry":{"command":"notes","env":{"KEY":"${KEY}"}},"envFile":null}"#,
/// );
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct RawEntry {
    pub(super) entry: Map<String, Value>,
    /// The text of the file of variables that the entry names.
    pub(super) env_file: Option<String>,
}

impl RawEntry {
    /// What stands under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry.get(key)
    }

    /// All that stands there. Who shows an entry to people goes through all of
    /// this, so that nothing is forgotten.
    #[must_use]
    pub fn entry(&self) -> &Map<String, Value> {
        &self.entry
    }

    /// The text of the file that `envFile` names, which is as much a part of
    /// the entry as what stands in `env`.
    #[must_use]
    pub fn env_file(&self) -> Option<&str> {
        self.env_file.as_deref()
    }

    /// All of it in one text, which is the same as long as the same is said:
    /// neither the order of keys nor blanks nor comments count. A program that
    /// remembers what it was allowed to run remembers a digest of this.
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
    /// Keys only: values may be secrets.
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

/// The members by the order of their names, whichever order the map keeps.
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
