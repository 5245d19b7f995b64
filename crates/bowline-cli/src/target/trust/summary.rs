//! Summary of a project's server, shown before the user decides.
//!
//! Everything is taken from the file as written. Expanded references may be
//! secrets of the user and end up in logs; and the written entry is what the
//! user agrees to.

use bowline::config::Endpoint;
use serde_json::{Map, Value};

use super::{
    TrustState,
    line::{bounded_line, command_line},
};
use crate::{
    output::{escape_control, short_path},
    target::ConfiguredServer,
};

/// Maximum number of lines about variables and settings. More would push the
/// command out of sight.
const MAX_ROWS: usize = 40;
/// From this many lines on, the command is repeated at the end.
const REPEAT_SUMMARY_ROWS: usize = 12;
const UNKNOWN_ENDPOINT: &str = "unknown kind of server";
/// The keys of a URL; the first that is present counts.
const URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Returns how the server is reached: its command, or its URL without the parts
/// that may hold keys.
pub(crate) fn endpoint_summary(found: &ConfiguredServer) -> String {
    let entry = found.entry.raw.entry();
    match &found.entry.endpoint {
        Endpoint::Stdio(_) => command_line(&command_words(entry)),
        Endpoint::Remote(_) => {
            let (scheme, host, path) = split_url(entry_url(entry));
            let path = path.split(['?', '#']).next().unwrap_or_default();
            bounded_line(&format!("{scheme}{host}{path}"))
        }
        _ => UNKNOWN_ENDPOINT.to_owned(),
    }
}

/// Returns one line that tells what would be run or connected to.
pub(crate) fn summary(found: &ConfiguredServer) -> String {
    let entry = found.entry.raw.entry();
    match &found.entry.endpoint {
        Endpoint::Stdio(_) => format!("it would run: {}", command_line(&command_words(entry))),
        Endpoint::Remote(_) => {
            let address = entry_url(entry);
            let (scheme, host, path) = split_url(address);
            let url = bounded_line(address);
            // Neither a prefix nor its length can hide the host.
            match url.starts_with(&format!("{scheme}{host}{path}")) {
                true => format!("it would connect to: {url}"),
                false => format!("it would connect to {}: {url}", bounded_line(host)),
            }
        }
        _ => UNKNOWN_ENDPOINT.to_owned(),
    }
}

/// Formats everything in the entry, one line each.
pub(crate) fn detail_lines(found: &ConfiguredServer, state: TrustState) -> Vec<String> {
    let (name, file) = (escape_control(&found.entry.name), short_path(&found.path));
    let mut lines = vec![format!("`{name}` comes from a project: {file}")];
    if state == TrustState::Changed {
        lines.push("Its entry has changed since you trusted it.".to_owned());
    }
    // Each key is removed when it is shown, and the rest is shown verbatim, so
    // no key is missed, not even a new one. The rest is labelled `setting`, so
    // it cannot pass for one of our own lines.
    let mut entry = found.entry.raw.entry().clone();
    let (mut rows, mut tables) = (Vec::new(), Vec::new());
    match &found.entry.endpoint {
        Endpoint::Stdio(server) => {
            lines.push("It would be started with all of your permissions:".to_owned());
            let words = command_words(&entry);
            lines.push(row("command", &command_line(&words)));
            lines.push(row("arguments", &(words.len() - 1).to_string()));
            let cwd = server.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
            let cwd = entry
                .shift_remove("cwd")
                .map(|cwd| value_string(&cwd))
                .or(cwd.map(Into::into));
            lines.extend(cwd.map(|cwd| row("folder", &bounded_line(&cwd))));
            if entry.shift_remove("inherit_env") == Some(Value::Bool(true)) {
                rows.push(row("variables", "all of your environment (inherit_env)"));
            }
            rows.extend(env_file(&mut entry, found.entry.raw.env_file()));
            entry.shift_remove("command");
            entry.shift_remove("args");
        }
        _ => {
            lines.push("It would be connected to, and receive your requests:".to_owned());
            lines.push(row("address", &bounded_line(entry_url(&entry))));
            let (_, host, _) = split_url(entry_url(&entry));
            lines.push(row("host", &bounded_line(host)));
            if let Some(key) = URL_KEYS.iter().find(|key| entry.contains_key(**key)) {
                entry.shift_remove(*key);
            }
        }
    }
    for (key, what, separator) in TABLES {
        tables.extend(table(&mut entry, key, what, separator));
    }
    let rest = entry.iter();
    rows.extend(rest.map(|(key, value)| {
        let (key, value) = (bounded_line(key), bounded_line(&value_string(value)));
        row("setting", &format!("{key}: {value}"))
    }));
    rows.append(&mut tables);
    lines.append(&mut limit_rows(rows, found));
    lines
}

/// Keys that hold several items, the label of one item, and the separator
/// between its name and value.
const TABLES: [(&str, &str, &str); 5] = [
    ("env", "variable", "="),
    ("headers", "header", ": "),
    ("http_headers", "header", ": "),
    ("env_http_headers", "header", ": value of the variable "),
    ("env_vars", "variable", ""),
];

fn table(entry: &mut Map<String, Value>, key: &str, label: &str, separator: &str) -> Vec<String> {
    let line = |(name, value): (&String, &Value)| {
        row(
            label,
            &bounded_line(&format!("{name}{separator}{}", value_string(value))),
        )
    };
    let inherited = |name: &Value| {
        let name = bounded_line(&value_string(name));
        row(label, &format!("{name} (from your environment)"))
    };
    // Anything else is not a table and is shown verbatim.
    match entry.get(key) {
        Some(Value::Object(_) | Value::Array(_)) => {}
        _ => return Vec::new(),
    }
    match entry.shift_remove(key) {
        Some(Value::Object(members)) => members.iter().map(line).collect(),
        Some(Value::Array(items)) => items.iter().map(inherited).collect(),
        _ => Vec::new(),
    }
}

/// Describes the env file and the variables it sets. Their values are not
/// shown: such a file often belongs to the user.
fn env_file(entry: &mut Map<String, Value>, content: Option<&str>) -> Option<String> {
    let file = value_string(&entry.shift_remove("envFile")?);
    let variable_name = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, _) = line.split_once('=')?;
        (!line.starts_with('#')).then(|| name.trim().to_owned())
    };
    let names = content
        .unwrap_or_default()
        .lines()
        .filter_map(variable_name);
    let names: Vec<String> = names.collect();
    let file = bounded_line(&file);
    let names = bounded_line(&names.join(", "));
    Some(row(
        "variables",
        &format!("from the file {file}, which sets {names}"),
    ))
}

/// Limits the number of lines, then repeats the command.
fn limit_rows(mut rows: Vec<String>, found: &ConfiguredServer) -> Vec<String> {
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    if more > 0 {
        let file = short_path(&found.path);
        rows.push(format!(
            "  and {more} more, which are not shown: read {file} before you accept"
        ));
    }
    if rows.len() > REPEAT_SUMMARY_ROWS {
        rows.push(format!("Again: {}", summary(found)));
    }
    rows
}

/// Returns the command and its arguments.
fn command_words(entry: &Map<String, Value>) -> Vec<String> {
    let command = entry.get("command").map(value_string).unwrap_or_default();
    let args = entry.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten().map(value_string);
    [command].into_iter().chain(args).collect()
}

fn entry_url(entry: &Map<String, Value>) -> &str {
    let mut urls = URL_KEYS.iter().filter_map(|key| entry.get(*key)?.as_str());
    urls.next().unwrap_or_default()
}

/// Splits a URL into three: everything before the host, without user info; host
/// and port; and the rest. Parsers treat `\` like `/` there, and any number of
/// them.
fn split_url(address: &str) -> (&str, &str, &str) {
    let scheme = address.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = address.split_at(scheme);
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    (scheme, host, path)
}

/// Formats a value as written, strings without quotes.
fn value_string(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}

fn row(label: &str, text: &str) -> String {
    format!("  {label:<9} {text}")
}

#[cfg(test)]
mod tests {
    use super::split_url;

    #[test]
    fn the_host_is_the_one_that_is_connected_to() {
        let cases = [
            ("https://a.test/mcp?x@y", "a.test"),
            ("https://a.test:80", "a.test:80"),
            ("https://good.test@a.test/good.test", "a.test"),
            (r"https://a.test\@good.test/", "a.test"),
            ("https://a.test?@good.test/", "a.test"),
            ("https://a.test#@good.test/", "a.test"),
            (r"https://\a.test/good.test", "a.test"),
            ("https://${HOST}/mcp", "${HOST}"),
            ("${URL}", "${URL}"),
        ];
        for (address, host) in cases {
            assert_eq!(split_url(address).1, host, "{address}");
        }
    }
}
