//! What a person sees of a project's server before they decide.

use bowline::config::{Endpoint, Written};
use serde_json::Value;

use super::Standing;
use crate::{
    output::{clean, short},
    target::{Found, quoted},
};

/// The server in one line: what would be run, or connected to.
pub(crate) fn summary(found: &Found) -> String {
    match &found.entry.endpoint {
        Endpoint::Stdio(server) => {
            let words = [&server.command].into_iter().chain(&server.args);
            let words: Vec<_> = words.map(|word| quoted(word)).collect();
            format!("it would run: {}", on_one_line(&words.join(" ")))
        }
        Endpoint::Remote(server) => format!("it would connect to: {}", on_one_line(&server.url)),
        _ => "it is of a kind that is not known here".to_owned(),
    }
}

/// All that matters of it, a line each.
pub(crate) fn lines(found: &Found, standing: Standing) -> Vec<String> {
    let (name, file) = (clean(&found.entry.name), short(&found.path));
    let mut lines = vec![format!("`{name}` comes with a project, by {file}.")];
    if standing == Standing::Changed {
        lines.push("Its entry has changed since you trusted it.".to_owned());
    }
    let written = &found.entry.written;
    match &found.entry.endpoint {
        Endpoint::Stdio(server) => {
            lines.push("It would be started, with all that you may do:".to_owned());
            let words = [&server.command].into_iter().chain(&server.args);
            let words: Vec<_> = words.map(|word| quoted(word)).collect();
            lines.push(row("command", &words.join(" ")));
            if let Some(cwd) = &server.cwd {
                lines.push(row("folder", &cwd.to_string_lossy()));
            }
            lines.extend(variables(written, server.env.keys()));
        }
        Endpoint::Remote(server) => {
            lines.push("It would be connected to, and sent what you ask of it:".to_owned());
            lines.push(row("address", &server.url));
            for key in ["headers", "http_headers", "env_http_headers"] {
                let header = |(name, value)| row("header", &format!("{name}: {value}"));
                lines.extend(pairs(written, key).map(header));
            }
            if let Some(variable) = written.get("bearer_token_env_var").and_then(Value::as_str) {
                lines.push(row("token", &format!("what ${{{variable}}} holds")));
            }
        }
        _ => {}
    }
    lines
}

/// The variables that a command gets: what the file says of them, and not what
/// they hold, since that may be the person's own.
fn variables<'a>(written: &Written, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let named: Vec<(String, String)> = pairs(written, "env").collect();
    let mut lines: Vec<_> = named
        .iter()
        .map(|(name, value)| row("variable", &format!("{name}={value}")))
        .collect();
    let from_file = written.env_file().unwrap_or_default();
    for name in names.filter(|name| named.iter().all(|(known, _)| known != *name)) {
        let sets = |line: &str| {
            let line = line.trim_start();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (set, _) = line.split_once('=').unwrap_or_default();
            set.trim() == name
        };
        let whence = match from_file.lines().any(sets) {
            true => "of its file of variables",
            false => "of your environment",
        };
        lines.push(row("variable", &format!("{name} ({whence})")));
    }
    lines
}

/// The members of an object, as they are written.
fn pairs(written: &Written, key: &str) -> impl Iterator<Item = (String, String)> {
    let members = written.get(key).and_then(Value::as_object);
    let pairs: Vec<_> = members
        .into_iter()
        .flatten()
        .map(|(name, value)| match value.as_str() {
            Some(text) => (name.clone(), text.to_owned()),
            None => (name.clone(), value.to_string()),
        })
        .collect();
    pairs.into_iter()
}

fn row(what: &str, text: &str) -> String {
    format!("  {what:<9} {}", on_one_line(text))
}

/// A text that cannot pretend to be more than one line.
fn on_one_line(text: &str) -> String {
    clean(text).replace('\n', "\\n").replace('\t', "\\t")
}
