//! Reading the entry of one server.

use std::{collections::BTreeMap, fs, io, path::Path};

use super::{
    ConnectionSettings, Endpoint, ProblemKind, RemoteKind, RemoteServer, ServerEntry, StdioServer,
    env_file, expand::Expander, fields::Fields, overrides::VariablePrefixes, report::member_path,
};

/// The keys for the type of server.
const KIND_KEYS: &[&str] = &["type", "transport", "transportType"];
/// The message for an unknown type.
pub(super) const KNOWN_TYPES: &str = "unknown type; expected stdio, http, streamable-http or sse";
/// The message for a URL with another scheme.
pub(super) const NOT_HTTP_URL: &str = "a URL must begin with http:// or https://";
/// The keys for the URL of a server.
const URL_KEYS: &[&str] = &["url", "serverUrl", "httpUrl"];

/// The maximum size of an environment file, in bytes.
const MAX_ENV_FILE: u64 = 1024 * 1024;

/// The context in which entries are read.
pub(super) struct EntryReader<'a> {
    pub(super) expander: Expander<'a>,
    /// Which servers the environment's variables belong to. `None` if no server gets
    /// them, as in a project's file.
    pub(super) prefixes: Option<VariablePrefixes>,
}

/// The type of server.
#[derive(Clone, Copy)]
pub(super) enum EntryKind {
    Stdio,
    Remote(RemoteKind),
}

impl EntryReader<'_> {
    /// Reads an entry, and returns the server if the entry is usable. Problems go into
    /// the report of `fields`.
    pub(super) fn read(&self, name: &str, mut fields: Fields<'_>) -> Option<ServerEntry> {
        let endpoint = match read_kind(&mut fields) {
            Some(EntryKind::Stdio) => self.stdio(name, &mut fields).map(Endpoint::Stdio),
            Some(EntryKind::Remote(kind)) => self.remote(kind, &mut fields).map(Endpoint::Remote),
            None => None,
        };
        let projects = fields.strings("projects").unwrap_or_default();
        let settings = ConnectionSettings::read(&mut fields, self.expander.paths);
        let raw_value = std::mem::take(&mut fields.raw);
        // Without an endpoint the remaining keys were not read.
        if endpoint.is_some() {
            fields.finish();
        }
        Some(ServerEntry {
            projects,
            connection: settings,
            raw: raw_value,
            ..ServerEntry::new(name, endpoint?)
        })
    }

    pub(super) fn stdio(&self, name: &str, fields: &mut Fields<'_>) -> Option<StdioServer> {
        if !fields.has("command") {
            fields.missing("command");
        }
        let command = self.path(fields, "command")?;
        if command.trim().is_empty() {
            fields.invalid_value("command", "the command is empty");
        }
        let args = fields.strings("args").unwrap_or_default();
        let mut expanded = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let path = format!("{}[{at}]", fields.path("args"));
            expanded.push(self.expander.expand_path(arg, &path, fields.report));
        }
        let cwd = self.path(fields, "cwd");
        Some(StdioServer {
            command,
            args: expanded,
            env: self.read_variables(name, fields),
            inherit_env: fields.flag("inherit_env"),
            cwd: cwd.map(|cwd| self.expander.paths.absolute(&cwd)),
        })
    }

    fn remote(&self, kind: RemoteKind, fields: &mut Fields<'_>) -> Option<RemoteServer> {
        if !URL_KEYS.iter().any(|key| fields.has(key)) {
            fields.missing("url");
        }
        let (key, raw_value) = fields.first_string(URL_KEYS)?;
        let path = fields.path(key);
        let problem_count = fields.report.problems.len();
        let url = self.expander.expand(&raw_value, &path, fields.report);
        // An unresolved reference in the URL was already reported.
        if fields.report.problems.len() == problem_count && !is_http_url(&url) {
            fields.invalid_value(key, NOT_HTTP_URL);
        }
        let kind = match (kind, key) {
            (RemoteKind::Unspecified, "httpUrl") => RemoteKind::Streamable,
            _ => kind,
        };
        Some(RemoteServer {
            url,
            headers: self.headers("headers", fields),
            kind,
            credentials: None,
            allow_plain_http: fields.flag("allowPlainHttp"),
        })
    }

    /// Reads the headers under this key.
    pub(super) fn headers(&self, key: &str, fields: &mut Fields<'_>) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        for (name, raw_value) in fields.table(key) {
            let path = member_path(&fields.path(key), &name);
            let value = self.expander.expand(&raw_value, &path, fields.report);
            if !is_header_name(&name) {
                fields.report.invalid_value(&path, "invalid header name");
            }
            if value.chars().any(|c| c.is_control() && c != '\t') {
                let reason = "a header cannot contain line breaks or control characters";
                fields.report.invalid_value(&path, reason);
            }
            headers.insert(name, value);
        }
        headers
    }

    fn read_variables(&self, name: &str, fields: &mut Fields<'_>) -> BTreeMap<String, String> {
        let file_variables = self.env_file(fields).unwrap_or_default();
        let entry_variables = fields.table("env");
        let base_path = fields.path("env");
        let listed: BTreeMap<String, (String, bool)> = file_variables
            .into_iter()
            .map(|(name, value)| (name, (value, false)))
            .chain(
                entry_variables
                    .into_iter()
                    .map(|(name, value)| (name, (value, true))),
            )
            .collect();
        for name in listed.keys() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let path = member_path(&base_path, name);
                fields.report.invalid_value(&path, "invalid variable name");
            }
        }
        let overrides = self
            .prefixes
            .as_ref()
            .map(|prefixes| prefixes.overrides_for(name, self.expander.environment));
        let mut variables = BTreeMap::new();
        if let Some(overrides) = &overrides {
            let server_variables = overrides.server_variables();
            variables
                .extend(server_variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
            if let [first, ..] = overrides.conflicting_names(name)[..] {
                fields.add_problem(ProblemKind::SameVariables(first.to_owned()));
            }
        }
        for (name, (raw_value, in_entry)) in listed {
            // A reference that is overridden may be unresolvable.
            let override_value = overrides.as_ref().and_then(|it| it.get(&name));
            let value = match override_value {
                Some(value) => value.to_owned(),
                // References are expanded only in entries, not in environment files.
                None if !in_entry => raw_value,
                None => {
                    let path = member_path(&base_path, &name);
                    self.expander.expand(&raw_value, &path, fields.report)
                }
            };
            variables.insert(name, value);
        }
        variables
    }

    fn env_file(&self, fields: &mut Fields<'_>) -> Option<Vec<(String, String)>> {
        let name = self.path(fields, "envFile")?;
        let path = fields.path("envFile");
        let text = match read_env_file(&self.expander.paths.absolute(&name)) {
            Ok(text) => text,
            Err(error) => {
                let reason = ProblemKind::EnvFile(error.to_string());
                fields.report.add(&path, reason);
                return None;
            }
        };
        let file = env_file::parse(&text);
        fields.raw.env_file = Some(text);
        for line in file.bad_lines {
            fields.report.add(&path, ProblemKind::EnvFileLine(line));
        }
        Some(file.variables)
    }

    fn path(&self, fields: &mut Fields<'_>, key: &str) -> Option<String> {
        let raw_value = fields.string(key)?;
        let path = fields.path(key);
        Some(self.expander.expand_path(&raw_value, &path, fields.report))
    }
}

/// Reads an environment file. Anyone may have chosen its path, so devices and pipes,
/// which never end, are rejected.
fn read_env_file(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_ENV_FILE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read_to_string(path)
}

/// Returns the type of server, as specified or inferred from the keys.
fn read_kind(fields: &mut Fields<'_>) -> Option<EntryKind> {
    let command = fields.has("command");
    let url = URL_KEYS.iter().find(|key| fields.has(key));
    if KIND_KEYS.iter().any(|key| fields.has(key)) {
        let (key, type_name) = fields.first_string(KIND_KEYS)?;
        let kind = parse_kind(&type_name);
        if kind.is_none() {
            fields.invalid_value(key, KNOWN_TYPES);
        }
        return kind;
    }
    match (command, url) {
        (true, None) => Some(EntryKind::Stdio),
        (false, Some(_)) => Some(EntryKind::Remote(RemoteKind::Unspecified)),
        (true, Some(key)) => {
            let path = fields.path(key);
            fields.report.add(&path, ProblemKind::Ambiguous);
            None
        }
        (false, None) => {
            fields.missing("command or url");
            None
        }
    }
}

/// Parses the name of a type.
pub(super) fn parse_kind(type_name: &str) -> Option<EntryKind> {
    match type_name {
        "stdio" => Some(EntryKind::Stdio),
        "http" | "streamable-http" | "streamableHttp" | "streamable_http" => {
            Some(EntryKind::Remote(RemoteKind::Streamable))
        }
        "sse" => Some(EntryKind::Remote(RemoteKind::Sse)),
        _ => None,
    }
}

/// Returns whether a string looks like the URL of a server. Other errors in it are
/// found when it is dialled.
pub(super) fn is_http_url(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let rest = lower
        .strip_prefix("http://")
        .or_else(|| lower.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', '?', '#'])
            && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

fn is_header_name(name: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}
