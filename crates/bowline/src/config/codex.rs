//! Reading Codex's configuration, which is TOML and has no references.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    ConnectionSettings, Endpoint, Loader, Position, ProblemKind, RemoteKind, RemoteServer,
    ServerEntry, ServersFile,
    entry_reader::{EntryReader, NOT_HTTP_URL, is_http_url},
    fields::{Fields, type_name},
    file::MAX_SERVERS,
    name,
    report::{Report, member_path},
};
use crate::proto::client::Timeouts;

/// The table of servers.
const SERVERS: &str = "mcp_servers";

/// Parses the text of a file.
pub(super) fn parse(source: &str, loader: &Loader) -> ServersFile {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let root = match DeTable::parse(text) {
        Ok(root) => root.into_inner(),
        Err(error) => {
            let at = error
                .span()
                .map(|span| Position::from_offset(text, span.start));
            // The parser lists the expected tokens on further lines.
            let message = error.message().lines().next().unwrap_or_default();
            return ServersFile::from_problem(at, ProblemKind::Toml(message.to_owned()));
        }
    };
    let entries = match root
        .get(SERVERS)
        .map(|servers| (servers.get_ref(), servers))
    {
        None => return ServersFile::default(),
        Some((DeValue::Table(entries), _)) => sorted_by_offset(entries),
        Some((other, servers)) => {
            let mut report = Report {
                position: Some(Position::from_offset(text, servers.span().start)),
                ..Report::default()
            };
            report.add(SERVERS, not_an_object(&to_json(other)));
            return ServersFile {
                problems: report.problems,
                ..ServersFile::default()
            };
        }
    };
    let reader = EntryReader {
        expander: loader.expander(Vec::new()).literal(),
        prefixes: loader.prefixes(entries.iter().map(|entry| entry.name)),
    };
    let mut file = ServersFile::default();
    file.check_count(entries.len());
    for entry in entries.into_iter().take(MAX_SERVERS) {
        let position = Position::from_offset(text, entry.offset);
        read_entry(&mut file, &reader, &entry, position);
    }
    file
}

/// Returns the names of the servers in a file, including unusable ones.
pub(super) fn names(source: &str) -> Vec<String> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let Ok(root) = DeTable::parse(text) else {
        return Vec::new();
    };
    match root.get_ref().get(SERVERS).map(Spanned::get_ref) {
        Some(DeValue::Table(entries)) => {
            let names = entries.keys().map(|name| name.get_ref().to_string());
            names.collect()
        }
        _ => Vec::new(),
    }
}

/// A server's entry, not parsed yet.
struct TomlEntry<'a> {
    name: &'a str,
    offset: usize,
    value: &'a DeValue<'a>,
}

/// Returns the entries in file order: the table itself is sorted by name.
fn sorted_by_offset<'a>(entries: &'a DeTable<'a>) -> Vec<TomlEntry<'a>> {
    let mut entries: Vec<_> = entries.iter().map(to_entry).collect();
    entries.sort_by_key(|entry| entry.offset);
    entries
}

fn to_entry<'a>(
    (name, value): (
        &'a Spanned<std::borrow::Cow<'a, str>>,
        &'a Spanned<DeValue<'a>>,
    ),
) -> TomlEntry<'a> {
    TomlEntry {
        name: name.get_ref(),
        offset: name.span().start,
        value: value.get_ref(),
    }
}

fn read_entry(
    file: &mut ServersFile,
    reader: &EntryReader<'_>,
    entry: &TomlEntry<'_>,
    position: Position,
) {
    let mut report = Report {
        server: Some(entry.name.to_owned()),
        position: Some(position),
        ..Report::default()
    };
    let path = member_path(SERVERS, entry.name);
    if let Some(reason) = name::invalid_reason(entry.name) {
        report.invalid_value(&path, reason);
        file.problems.append(&mut report.problems);
        return;
    }
    match to_json(entry.value) {
        Value::Object(members) => {
            let mut fields = Fields::new(members, path, &mut report);
            if fields.flag_or("enabled", true) {
                let server = reader.read_codex(entry.name, fields);
                file.servers.extend(server.filter(|_| !report.is_fatal()));
            } else {
                file.disabled.push(entry.name.to_owned());
            }
        }
        other => report.add(&path, not_an_object(&other)),
    }
    file.problems.append(&mut report.problems);
}

fn not_an_object(value: &Value) -> ProblemKind {
    ProblemKind::WrongType {
        expected: "a table",
        found: type_name(value),
    }
}

impl EntryReader<'_> {
    fn read_codex(&self, name: &str, mut fields: Fields<'_>) -> Option<ServerEntry> {
        let mut endpoint = match (fields.has("command"), fields.has("url")) {
            (true, false) => self.stdio(name, &mut fields).map(Endpoint::Stdio),
            (false, true) => self.read_codex_remote(&mut fields).map(Endpoint::Remote),
            (true, true) => {
                let path = fields.path("url");
                fields.report.add(&path, ProblemKind::Ambiguous);
                None
            }
            (false, false) => {
                fields.missing("command or url");
                None
            }
        };
        let inherited = fields.strings("env_vars").unwrap_or_default();
        if let Some(Endpoint::Stdio(server)) = &mut endpoint {
            for name in inherited {
                if let Some(value) = self.expander.environment.get(&name) {
                    let value = value.to_owned();
                    server.env.entry(name).or_insert(value);
                }
            }
        }
        let settings = ConnectionSettings {
            timeouts: timeouts(&mut fields),
            ..ConnectionSettings::default()
        };
        let source = std::mem::take(&mut fields.raw);
        if endpoint.is_some() {
            fields.finish();
        }
        Some(ServerEntry {
            connection: settings,
            raw: source,
            ..ServerEntry::new(name, endpoint?)
        })
    }

    fn read_codex_remote(&self, fields: &mut Fields<'_>) -> Option<RemoteServer> {
        let url = fields.string("url")?;
        if !is_http_url(&url) {
            fields.invalid_value("url", NOT_HTTP_URL);
        }
        let mut headers = self.headers("http_headers", fields);
        headers.extend(self.headers_from_variables(fields));
        if let Some(variable) = fields.string("bearer_token_env_var") {
            let path = fields.path("bearer_token_env_var");
            if let Some(token) = self.lookup_variable(&variable, &path, fields.report) {
                headers.insert("Authorization".to_owned(), format!("Bearer {token}"));
            }
        }
        Some(RemoteServer {
            url,
            headers,
            kind: RemoteKind::Streamable,
            credentials: None,
            allow_plain_http: fields.flag("allow_plain_http"),
        })
    }

    /// Reads headers whose values are those of variables.
    fn headers_from_variables(&self, fields: &mut Fields<'_>) -> BTreeMap<String, String> {
        let base_path = fields.path("env_http_headers");
        let names = self.headers("env_http_headers", fields);
        let mut headers = BTreeMap::new();
        for (name, variable) in names {
            let path = member_path(&base_path, &name);
            if let Some(value) = self.lookup_variable(&variable, &path, fields.report) {
                headers.insert(name, value);
            }
        }
        headers
    }

    fn lookup_variable(&self, name: &str, path: &str, report: &mut Report) -> Option<String> {
        let value = self.expander.environment.get(name);
        if value.is_none() {
            report.add(path, ProblemKind::UnsetVariable(name.to_owned()));
        }
        value.map(str::to_owned)
    }
}

fn timeouts(fields: &mut Fields<'_>) -> Option<Timeouts> {
    let opening = fields.seconds("startup_timeout_sec").or_else(|| {
        fields
            .positive("startup_timeout_ms")
            .map(Duration::from_millis)
    });
    let tool = fields.seconds("tool_timeout_sec");
    if opening.is_none() && tool.is_none() {
        return None;
    }
    let defaults = Timeouts::standard();
    Some(Timeouts {
        connect: opening.unwrap_or(defaults.connect),
        tool: tool.unwrap_or(defaults.tool),
        ..defaults
    })
}

/// Converts a value to JSON, from which entries are read. Values that JSON cannot
/// represent become strings.
fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            parsed.map_or_else(|_| Value::from(number.as_str()), Value::from)
        }
        DeValue::Float(number) => {
            let parsed: Result<f64, _> = number.as_str().parse();
            parsed.map_or_else(|_| Value::from(number.as_str()), Value::from)
        }
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(members) => {
            let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                (key.to_string(), to_json(value.get_ref()))
            };
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
    }
}
