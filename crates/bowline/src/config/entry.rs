//! Reading the entry of one server.

use std::{collections::BTreeMap, fs, io, path::Path};

use super::{
    Endpoint, ProblemKind, RemoteKind, RemoteServer, ServerEntry, Settings, StdioServer, env_file,
    expand::Expander, fields::Fields, precedence::Prefixes, report::member,
};

/// The keys that say what kind of server it is.
const KIND: &[&str] = &["type", "transport", "transportType"];
/// What to say where the kind is none that is known.
pub(super) const KINDS: &str = "the types are stdio, http, streamable-http and sse";
/// What to say of an address that is none.
pub(super) const NO_ADDRESS: &str = "an address begins with http:// or https://";
/// The keys that say where a server runs.
const URL: &[&str] = &["url", "serverUrl", "httpUrl"];

/// The largest file of variables, in bytes.
const MAX_ENV_FILE: u64 = 1024 * 1024;

/// What entries are read with.
pub(super) struct EntryReader<'a> {
    pub(super) expander: Expander<'a>,
    /// Whom variables of the environment are meant for; none where they are
    /// meant for nobody, as in a project's file.
    pub(super) prefixes: Option<Prefixes>,
}

/// What an entry says of its kind.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Stdio,
    Remote(RemoteKind),
}

impl EntryReader<'_> {
    /// The server, if its entry can be used. What is wrong goes into the
    /// report of `fields`.
    pub(super) fn read(&self, name: &str, mut fields: Fields<'_>) -> Option<ServerEntry> {
        let endpoint = match kind(&mut fields) {
            Some(Kind::Stdio) => self.stdio(name, &mut fields).map(Endpoint::Stdio),
            Some(Kind::Remote(kind)) => self.remote(kind, &mut fields).map(Endpoint::Remote),
            None => None,
        };
        let projects = fields.texts("projects").unwrap_or_default();
        let settings = Settings::read(&mut fields, self.expander.paths);
        let written = std::mem::take(&mut fields.written);
        // Without an endpoint nobody looked at the rest.
        if endpoint.is_some() {
            fields.finish();
        }
        Some(ServerEntry {
            projects,
            settings,
            written,
            ..ServerEntry::new(name, endpoint?)
        })
    }

    pub(super) fn stdio(&self, name: &str, fields: &mut Fields<'_>) -> Option<StdioServer> {
        if !fields.has("command") {
            fields.missing("command");
        }
        let command = self.path(fields, "command")?;
        if command.trim().is_empty() {
            fields.value("command", "the command is empty");
        }
        let args = fields.texts("args").unwrap_or_default();
        let mut expanded = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let path = format!("{}[{at}]", fields.path("args"));
            expanded.push(self.expander.path(arg, &path, fields.report));
        }
        let cwd = self.path(fields, "cwd");
        Some(StdioServer {
            command,
            args: expanded,
            env: self.variables(name, fields),
            inherit_env: fields.flag("inherit_env"),
            cwd: cwd.map(|cwd| self.expander.paths.absolute(&cwd)),
        })
    }

    fn remote(&self, kind: RemoteKind, fields: &mut Fields<'_>) -> Option<RemoteServer> {
        if !URL.iter().any(|key| fields.has(key)) {
            fields.missing("url");
        }
        let (key, written) = fields.text_of(URL)?;
        let path = fields.path(key);
        let complaints = fields.report.problems.len();
        let url = self.expander.text(&written, &path, fields.report);
        // An address with a hole in it has been complained of already.
        if fields.report.problems.len() == complaints && !is_address(&url) {
            fields.value(key, NO_ADDRESS);
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
        for (name, written) in fields.table(key) {
            let path = member(&fields.path(key), &name);
            let value = self.expander.text(&written, &path, fields.report);
            if !is_header_name(&name) {
                fields
                    .report
                    .value(&path, "this cannot be the name of a header");
            }
            if value.chars().any(|c| c.is_control() && c != '\t') {
                let why = "a header cannot have line breaks or control characters";
                fields.report.value(&path, why);
            }
            headers.insert(name, value);
        }
        headers
    }

    fn variables(&self, name: &str, fields: &mut Fields<'_>) -> BTreeMap<String, String> {
        let from_file = self.env_file(fields).unwrap_or_default();
        let from_entry = fields.table("env");
        let under = fields.path("env");
        let listed: BTreeMap<String, (String, bool)> = from_file
            .into_iter()
            .map(|(name, value)| (name, (value, false)))
            .chain(
                from_entry
                    .into_iter()
                    .map(|(name, value)| (name, (value, true))),
            )
            .collect();
        for name in listed.keys() {
            if name.is_empty() || name.contains(['=', '\0']) {
                let path = member(&under, name);
                fields
                    .report
                    .value(&path, "this cannot be the name of a variable");
            }
        }
        let overrides = self
            .prefixes
            .as_ref()
            .map(|prefixes| prefixes.of(name, self.expander.environment));
        let mut variables = BTreeMap::new();
        if let Some(overrides) = &overrides {
            let own = overrides.own();
            variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
            if let [first, ..] = overrides.rivals(name)[..] {
                fields.about(ProblemKind::SameVariables(first.to_owned()));
            }
        }
        for (name, (written, in_entry)) in listed {
            // A reference that is overridden need not be resolvable.
            let given = overrides.as_ref().and_then(|it| it.get(&name));
            let value = match given {
                Some(value) => value.to_owned(),
                // A file of variables is taken by its word: only entries have
                // references.
                None if !in_entry => written,
                None => {
                    let path = member(&under, &name);
                    self.expander.text(&written, &path, fields.report)
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
                let why = ProblemKind::EnvFile(error.to_string());
                fields.report.add(&path, why);
                return None;
            }
        };
        let file = env_file::parse(&text);
        fields.written.env_file = Some(text);
        for line in file.bad_lines {
            fields.report.add(&path, ProblemKind::EnvFileLine(line));
        }
        Some(file.variables)
    }

    fn path(&self, fields: &mut Fields<'_>, key: &str) -> Option<String> {
        let written = fields.text(key)?;
        let path = fields.path(key);
        Some(self.expander.path(&written, &path, fields.report))
    }
}

/// The text of a file of variables. Anybody may have written the name of it,
/// so that devices and pipes, which never end, are not read.
fn read_env_file(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if about.len() > MAX_ENV_FILE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read_to_string(path)
}

/// What kind of server it is, by what the entry says or else by what it has.
fn kind(fields: &mut Fields<'_>) -> Option<Kind> {
    let command = fields.has("command");
    let url = URL.iter().find(|key| fields.has(key));
    if KIND.iter().any(|key| fields.has(key)) {
        let (key, word) = fields.text_of(KIND)?;
        let kind = kind_of(&word);
        if kind.is_none() {
            fields.value(key, KINDS);
        }
        return kind;
    }
    match (command, url) {
        (true, None) => Some(Kind::Stdio),
        (false, Some(_)) => Some(Kind::Remote(RemoteKind::Unspecified)),
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
pub(super) fn kind_of(word: &str) -> Option<Kind> {
    match word {
        "stdio" => Some(Kind::Stdio),
        "http" | "streamable-http" | "streamableHttp" | "streamable_http" => {
            Some(Kind::Remote(RemoteKind::Streamable))
        }
        "sse" => Some(Kind::Remote(RemoteKind::Sse)),
        _ => None,
    }
}

/// Whether a text can be the address of a server. What is wrong further inside
/// is found when it is dialled.
pub(super) fn is_address(url: &str) -> bool {
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
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(token)
}
