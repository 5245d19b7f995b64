//! Reading the entry of one server.

use std::{collections::BTreeMap, fs, io, path::Path};

use super::{
    ConnectionSettings, Endpoint, ProblemKind, RemoteKind, RemoteServer, ServerEntry, StdioServer,
    env_file, expand::Expander, fields::Fields, overrides::VariablePrefixes, report::member_path,
};

/// The keys that say what kind of server it is.
const KIND_KEYS: &[&str] = &["type", "transport", "transportType"];
/// What to say where the kind is none that is known.
pub(super) const KNOWN_TYPES: &str = "the types are stdio, http, streamable-http and sse";
/// What to say of an address that is none.
pub(super) const NOT_HTTP_URL: &str = "an address begins with http:// or https://";
/// The keys that say where a server runs.
const URL_KEYS: &[&str] = &["url", "serverUrl", "httpUrl"];

/// The largest file of variables, in bytes.
const MAX_ENV_FILE: u64 = 1024 * 1024;

/// What entries are read with.
pub(super) struct EntryReader<'a> {
    pub(super) expander: Expander<'a>,
    /// Whom variables of the environment are meant for; none where they are
    /// meant for nobody, as in a project's file.
    pub(super) prefixes: Option<VariablePrefixes>,
}

/// What an entry says of its kind.
#[derive(Clone, Copy)]
pub(super) enum EntryKind {
    Stdio,
    Remote(RemoteKind),
}

impl EntryReader<'_> {
    /// The server, if its entry can be used. What is wrong goes into the
    /// report of `fields`.
    pub(super) fn read(&self, name: &str, mut fields: Fields<'_>) -> Option<ServerEntry> {
        let endpoint = match read_kind(&mut fields) {
            Some(EntryKind::Stdio) => self.stdio(name, &mut fields).map(Endpoint::Stdio),
            Some(EntryKind::Remote(kind)) => self.remote(kind, &mut fields).map(Endpoint::Remote),
            None => None,
        };
        let projects = fields.strings("projects").unwrap_or_default();
        let settings = ConnectionSettings::read(&mut fields, self.expander.paths);
        let raw_value = std::mem::take(&mut fields.raw);
        // Without an endpoint nobody looked at the rest.
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
        // An address with a hole in it has been complained of already.
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

    /// The headers that stand under this key.
    pub(super) fn headers(&self, key: &str, fields: &mut Fields<'_>) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        for (name, raw_value) in fields.table(key) {
            let path = member_path(&fields.path(key), &name);
            let value = self.expander.expand(&raw_value, &path, fields.report);
            if !is_header_name(&name) {
                fields
                    .report
                    .invalid_value(&path, "this cannot be the name of a header");
            }
            if value.chars().any(|c| c.is_control() && c != '\t') {
                let reason = "a header cannot have line breaks or control characters";
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
                fields
                    .report
                    .invalid_value(&path, "this cannot be the name of a variable");
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
            // A reference that is overridden need not be resolvable.
            let override_value = overrides.as_ref().and_then(|it| it.get(&name));
            let value = match override_value {
                Some(value) => value.to_owned(),
                // A file of variables is taken by its word: only entries have
                // references.
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

/// The text of a file of variables. Anybody may have written the name of it,
/// so that devices and pipes, which never end, are not read.
fn read_env_file(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if metadata.len() > MAX_ENV_FILE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read_to_string(path)
}

/// What kind of server it is, by what the entry says or else by what it has.
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

/// The kind that a word names.
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

/// Whether a text can be the address of a server. What is wrong further inside
/// is found when it is dialled.
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
