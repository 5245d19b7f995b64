//! Writing a server's entry in Bowline's own format, whichever dialect it was read in.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{ConnectionSettings, Endpoint, RemoteKind, RemoteServer, ServerEntry, StdioServer};
use crate::proto::client::{Backoff, Timeouts};

impl ServerEntry {
    /// Returns the complete entry in the format of Bowline's own file, to be copied
    /// there. Read again, it is the same server.
    ///
    /// The values are those after references were expanded; a program that copies
    /// entries reads them with an [`Environment`](super::Environment) in which each
    /// variable is a reference to itself. Credentials, which only come from the
    /// environment, are not part of an entry.
    ///
    /// ```
    /// use bowline::config::{Environment, Loader};
    ///
    /// let text = r#"{"servers": {"time": {"command": "uvx", "max_frame": "1KiB"}}}"#;
    /// let file = Loader::new(Environment::new()).parse(text);
    /// let entry = serde_json::Value::Object(file.servers[0].to_entry());
    /// assert_eq!(entry, serde_json::json!({"command": "uvx", "max_frame": 1024}));
    /// ```
    #[must_use]
    pub fn to_entry(&self) -> Map<String, Value> {
        // A new field must be copied, too, or be left out explicitly.
        let Self {
            name: _,
            endpoint,
            projects,
            connection: settings,
            raw: _,
        } = self;
        let mut entry = EntryWriter::default();
        match endpoint {
            Endpoint::Stdio(server) => entry.stdio(server),
            Endpoint::Remote(server) => entry.remote(server),
        }
        entry.set("projects", json!(projects));
        entry.settings(settings);
        entry.0
    }
}

#[derive(Default)]
struct EntryWriter(Map<String, Value>);

impl EntryWriter {
    /// Sets a value unless it is the default.
    fn set(&mut self, key: &str, value: Value) {
        let is_default = match &value {
            Value::Null => true,
            Value::Bool(flag) => !flag,
            Value::Array(items) => items.is_empty() && key != "roots",
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !is_default {
            self.0.insert(key.to_owned(), value);
        }
    }

    fn stdio(&mut self, server: &StdioServer) {
        let StdioServer {
            command,
            args,
            env,
            inherit_env,
            cwd,
        } = server;
        self.set("command", json!(command));
        self.set("args", json!(args));
        self.set("env", json!(env));
        self.set("inherit_env", json!(inherit_env));
        let cwd = cwd.as_ref().map(|cwd| cwd.to_string_lossy());
        self.set("cwd", json!(cwd));
    }

    fn remote(&mut self, server: &RemoteServer) {
        let RemoteServer {
            url,
            headers,
            kind,
            credentials: _,
            allow_plain_http,
        } = server;
        let kind = match kind {
            RemoteKind::Unspecified => None,
            RemoteKind::Streamable => Some("http"),
            RemoteKind::Sse => Some("sse"),
        };
        self.set("type", json!(kind));
        self.set("url", json!(url));
        self.set("headers", json!(headers));
        self.set("allowPlainHttp", json!(allow_plain_http));
    }

    fn settings(&mut self, settings: &ConnectionSettings) {
        let ConnectionSettings {
            timeouts,
            backoff,
            max_frame_size: max_frame,
            revisions,
            roots,
        } = settings;
        let timeout_members = timeouts.as_ref().map(changed_timeouts);
        match timeout_members.as_ref().is_some_and(Map::is_empty) {
            true => self.set("preset", json!("standard")),
            false => self.set("timeouts", json!(timeout_members)),
        }
        self.set(
            "backoff",
            backoff.as_ref().map_or(Value::Null, backoff_json),
        );
        self.set("max_frame", json!(max_frame));
        let revisions = revisions.as_ref().map(|all| {
            let names = all.iter().map(|revision| revision.as_str());
            names.collect::<Vec<_>>()
        });
        self.set("revisions", json!(revisions));
        let roots = roots.as_ref().map(|all| {
            let uris = all.iter().map(|root| root.uri.as_str());
            uris.collect::<Vec<_>>()
        });
        self.set("roots", json!(roots));
    }
}

/// Returns the timeouts that differ from the defaults.
fn changed_timeouts(timeouts: &Timeouts) -> Map<String, Value> {
    let Timeouts {
        connect: opening,
        probe,
        resource,
        tool,
        other,
        input,
    } = timeouts;
    let defaults = Timeouts::standard();
    let rows = [
        ("opening_ms", opening, defaults.connect),
        ("probe_ms", probe, defaults.probe),
        ("resource_ms", resource, defaults.resource),
        ("tool_ms", tool, defaults.tool),
        ("other_ms", other, defaults.other),
        ("input_ms", input, defaults.input),
    ];
    let changed = rows
        .into_iter()
        .filter(|(_, value, defaults)| *value != defaults);
    let members = changed.map(|(key, value, _)| (key.to_owned(), millis(*value)));
    members.collect()
}

fn backoff_json(backoff: &Backoff) -> Value {
    json!({"min_ms": millis(backoff.min()), "max_ms": millis(backoff.max())})
}

fn millis(time: Duration) -> Value {
    // Less than a millisecond is rounded up to one: zero would be rejected.
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Value::from(ms.max(1))
}
