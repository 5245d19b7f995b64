//! A parsed configuration file.

use std::{collections::HashMap, io, path::Path};

use serde_json::{Map, Value, value::RawValue};

use super::{
    Loader, Position, Problem, ProblemKind, ServerEntry, Severity,
    entry_reader::EntryReader,
    fields::{Fields, type_name},
    jsonc, name,
    report::Report,
    sections::{SectionEntry, Sections},
    unique_keys::StrictValue,
};
use crate::proto::jsonrpc::range_of;

/// The maximum number of servers read from a file.
pub(super) const MAX_SERVERS: usize = 1_000;

/// The contents of a configuration: the usable servers, and the problems of the others.
///
/// ```
/// use bowline::config::{Environment, Loader};
///
/// let file = Loader::new(Environment::new()).parse(
///     r#"{
///         // This one is fine.
///         "mcpServers": {
///             "time": {"command": "uvx", "args": ["mcp-server-time"]},
///             "docs": {"url": 7},
///         }
///     }"#,
/// );
/// assert_eq!(file.servers.len(), 1);
/// assert_eq!(
///     file.problems[0].to_string(),
///     "mcpServers.docs.url (line 5): expected a string, found a number; write a string",
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServersFile {
    /// The usable servers, in the order in which they are written.
    pub servers: Vec<ServerEntry>,
    /// The names of disabled servers. Their entries are not read.
    pub disabled: Vec<String>,
    /// The errors, and the warnings about ignored parts.
    pub problems: Vec<Problem>,
}

impl ServersFile {
    /// Loads a file with the environment and folders of this process. See
    /// [`Loader::load`].
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing or cannot be read.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Self> {
        Loader::from_process().load(path)
    }

    /// Loads a file that may not exist, with the environment and folders of this
    /// process. See [`Loader::load_optional`].
    #[must_use]
    pub fn load_optional(path: impl AsRef<Path>) -> Self {
        Loader::from_process().load_optional(path)
    }

    /// Reads the server that the environment of this process describes, if it does. See
    /// [`Loader::read_env`].
    #[must_use]
    pub fn from_env() -> Self {
        Loader::from_process().read_env()
    }

    /// Returns the server with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ServerEntry> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Returns the servers that list this project.
    pub fn for_project<'a>(&'a self, project: &'a str) -> impl Iterator<Item = &'a ServerEntry> {
        let listed = move |server: &&ServerEntry| server.projects.iter().any(|tag| tag == project);
        self.servers.iter().filter(listed)
    }

    /// Returns the problems that make a server, or the file, unusable.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        let is_match = |problem: &&Problem| problem.severity() == Severity::Error;
        self.problems.iter().filter(is_match)
    }

    /// Returns the problems because of which something was ignored.
    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        let is_match = |problem: &&Problem| problem.severity() == Severity::Warning;
        self.problems.iter().filter(is_match)
    }

    /// Creates the result for a file that is unusable as a whole.
    pub(super) fn from_problem(position: Option<Position>, kind: ProblemKind) -> Self {
        let mut report = Report {
            position,
            ..Report::default()
        };
        report.add("", kind);
        Self {
            problems: report.problems,
            ..Self::default()
        }
    }

    pub(super) fn parse(source: &str, loader: &Loader) -> Self {
        let text = jsonc::strip(source);
        // Programs create empty files for their users to fill.
        if text.trim().is_empty() {
            return Self::default();
        }
        let root: &RawValue = match serde_json::from_str(&text) {
            Ok(root) => root,
            // Positions refer to the original text: stripping preserves byte offsets,
            // but not character offsets.
            Err(error) => return Self::from_syntax_error(source, &error),
        };
        let mut report = Report::default();
        let sections = Sections::find(root, loader.local_dir(), &mut report);
        let names = NameCounts::from_entries(&sections.entries);
        let reader = EntryReader {
            expander: loader.expander(sections.inputs),
            prefixes: loader.prefixes(sections.entries.iter().map(|entry| entry.name.as_str())),
        };
        let mut file = Self {
            problems: report.problems,
            ..Self::default()
        };
        file.check_count(sections.entries.len());
        for entry in sections.entries.iter().take(MAX_SERVERS) {
            // The entry is a slice of the text.
            let range = range_of(entry.raw.get().as_bytes(), text.as_bytes());
            let mut report = Report {
                server: Some(entry.name.clone()),
                position: range.map(|range| Position::from_offset(source, range.start)),
                ..Report::default()
            };
            match names.problem(entry) {
                Some(problem) => report.add(&entry.path, problem),
                None => file.read_entry(&reader, entry, &mut report),
            }
            file.problems.append(&mut report.problems);
        }
        file
    }

    /// Returns the names of the servers in a file, including unusable ones.
    pub(super) fn names(source: &str, loader: &Loader) -> Vec<String> {
        let text = jsonc::strip(source);
        let Ok(root) = serde_json::from_str::<&RawValue>(&text) else {
            return Vec::new();
        };
        let sections = Sections::find(root, loader.local_dir(), &mut Report::default());
        let names = sections.entries.into_iter().map(|entry| entry.name);
        names.collect()
    }

    /// Reports if there are more servers than are read.
    pub(super) fn check_count(&mut self, count: usize) {
        if count > MAX_SERVERS {
            let mut too_many = Self::from_problem(None, ProblemKind::TooManyServers(count));
            self.problems.append(&mut too_many.problems);
        }
    }

    fn read_entry(
        &mut self,
        reader: &EntryReader<'_>,
        entry: &SectionEntry<'_>,
        report: &mut Report,
    ) {
        if let Some(members) = entry_members(entry, report) {
            let mut fields = Fields::new(members, entry.path.clone(), report);
            if fields.flag("disabled") {
                self.disabled.push(entry.name.clone());
            } else {
                let server = reader.read(&entry.name, fields);
                self.servers.extend(server.filter(|_| !report.is_fatal()));
            }
        }
    }

    /// Creates the result for a file that is not JSON.
    pub(super) fn from_syntax_error(text: &str, error: &serde_json::Error) -> Self {
        let start = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let offset = start + error.column().saturating_sub(1);
        let position = Position::from_offset(text, offset);
        Self::from_problem(Some(position), syntax_problem(error))
    }
}

/// How often each name appears in a file.
struct NameCounts<'a> {
    counts: HashMap<(&'a str, bool), usize>,
}

impl<'a> NameCounts<'a> {
    fn from_entries(entries: &'a [SectionEntry<'_>]) -> Self {
        let mut counts = HashMap::new();
        for entry in entries {
            *counts
                .entry((entry.name.as_str(), entry.is_local))
                .or_default() += 1;
        }
        Self { counts }
    }

    /// Returns the problem with the name of an entry, if there is one.
    ///
    /// If two servers have the same name, neither is used: programs do not agree on
    /// which one counts, so the user could see one and run the other.
    fn problem(&self, entry: &SectionEntry<'_>) -> Option<ProblemKind> {
        let count = |is_local| self.counts.get(&(entry.name.as_str(), is_local));
        if let Some(problem) = name::invalid_reason(&entry.name) {
            return Some(ProblemKind::InvalidValue(problem));
        }
        if count(entry.is_local).is_some_and(|&count| count > 1) {
            return Some(ProblemKind::Duplicate);
        }
        (!entry.is_local && count(true).is_some()).then_some(ProblemKind::Overridden)
    }
}

fn entry_members(entry: &SectionEntry<'_>, report: &mut Report) -> Option<Map<String, Value>> {
    let kind = match serde_json::from_str(entry.raw.get()) {
        Ok(StrictValue {
            duplicate_key: Some(key),
            ..
        }) => {
            let path = format!("{}.{key}", entry.path);
            report.add(&path, ProblemKind::DuplicateKey);
            return None;
        }
        Ok(StrictValue {
            value: Value::Object(members),
            ..
        }) => return Some(members),
        Ok(StrictValue { value, .. }) => ProblemKind::WrongType {
            expected: "an object",
            found: type_name(&value),
        },
        // The syntax was checked with the file; this is a number out of range or an
        // unpaired surrogate.
        Err(error) => syntax_problem(&error),
    };
    report.add(&entry.path, kind);
    None
}

/// Returns the parser's message without its position: ours is in characters, not in
/// bytes, and in the file, not in the entry.
fn syntax_problem(error: &serde_json::Error) -> ProblemKind {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    ProblemKind::Syntax(message.to_owned())
}
