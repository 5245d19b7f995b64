//! Finding the servers in a file of any dialect.

use std::{fmt, path::Path};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::{
    InputVariable, ProblemKind,
    fields::type_name,
    input,
    report::{Report, member_path},
};

/// The keys of the servers. VS Code's own file has the second, and its settings have it
/// inside [`NESTED`].
pub(super) const SERVERS: &[&str] = &["mcpServers", "servers"];
const NESTED: &str = "mcp";
/// The key of Claude Code's settings for individual folders.
const LOCAL: &str = "projects";
const INPUTS: &str = "inputs";

/// The servers and inputs of a file.
#[derive(Default)]
pub(super) struct Sections<'a> {
    pub(super) entries: Vec<SectionEntry<'a>>,
    pub(super) inputs: Vec<InputVariable>,
}

/// A server's entry, not parsed yet.
pub(super) struct SectionEntry<'a> {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) raw: &'a RawValue,
    /// Whether it is local to the workspace.
    pub(super) is_local: bool,
}

impl<'a> Sections<'a> {
    /// Finds the servers of a file, in file order. Those that Claude Code keeps for the
    /// workspace alone come last.
    pub(super) fn find(root: &'a RawValue, workspace: Option<&Path>, report: &mut Report) -> Self {
        let mut sections = Self::default();
        let Some(members) = object(root, "", report) else {
            return sections;
        };
        let mut found = sections.collect(&members, "", report);
        if let Some(nested) = optional_object(&members, NESTED, NESTED, report) {
            found |= sections.collect(&nested, NESTED, report);
        }
        let global_count = sections.entries.len();
        if let Some(workspace) = workspace {
            let workspace = workspace.to_string_lossy();
            let path = member_path(LOCAL, &workspace);
            let projects = optional_object(&members, LOCAL, LOCAL, report);
            let project = projects.and_then(|all| optional_object(&all, &workspace, &path, report));
            if let Some(project) = project {
                found |= sections.collect(&project, &path, report);
            }
        }
        for entry in sections.entries.iter_mut().skip(global_count) {
            entry.is_local = true;
        }
        if !found {
            report_misplaced(&members, report);
        }
        sections
    }

    /// Collects the servers under the known keys of an object. Returns whether there
    /// were any.
    fn collect(&mut self, members: &Members<'a>, path: &str, report: &mut Report) -> bool {
        let mut found = false;
        let known = [INPUTS].iter().chain(SERVERS);
        let duplicates: Vec<&str> = known
            .copied()
            .filter(|key| members.count(key) > 1)
            .collect();
        for key in &duplicates {
            found = true;
            report.add(&member_path(path, key), ProblemKind::DuplicateKey);
        }
        for (key, raw) in &members.0 {
            if duplicates.contains(&key.as_str()) {
                continue;
            }
            if key == INPUTS {
                let value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
                self.inputs.extend(input::parse_inputs(&value));
            }
            if !SERVERS.contains(&key.as_str()) {
                continue;
            }
            found = true;
            let path = member_path(path, key);
            let servers = object(raw, &path, report).unwrap_or_default();
            self.entries
                .extend(servers.0.into_iter().map(|(name, raw)| SectionEntry {
                    path: member_path(&path, &name),
                    name,
                    raw,
                    is_local: false,
                }));
        }
        found
    }
}

/// Reports servers in unexpected places.
fn report_misplaced(members: &Members<'_>, report: &mut Report) {
    let looks_like_server = |(key, raw): &&(String, &RawValue)| {
        let normalized: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
        let normalized = normalized.to_lowercase();
        let is_server = |members: Members<'_>| members.has("command") || members.has("url");
        matches!(normalized.as_str(), "mcpserver" | "mcpservers" | "server")
            || serde_json::from_str(raw.get()).is_ok_and(is_server)
    };
    if let Some((key, _)) = members.0.iter().find(looks_like_server) {
        report.add(&member_path("", key), ProblemKind::Misplaced);
    }
}

/// Returns the members of an object. Other types are reported.
fn object<'a>(raw: &'a RawValue, path: &str, report: &mut Report) -> Option<Members<'a>> {
    let members = serde_json::from_str(raw.get()).ok();
    if members.is_none() {
        let value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
        let found = type_name(&value);
        let expected = "an object";
        report.add(path, ProblemKind::WrongType { expected, found });
    }
    members
}

/// Returns the members of an object under a key that other programs may use
/// differently.
fn optional_object<'a>(
    members: &Members<'a>,
    key: &str,
    path: &str,
    report: &mut Report,
) -> Option<Members<'a>> {
    if members.count(key) > 1 {
        report.add(path, ProblemKind::DuplicateKey);
        return None;
    }
    let (_, raw) = members.0.iter().find(|(name, _)| name == key)?;
    serde_json::from_str(raw.get()).ok()
}

/// The members of an object, in order and with duplicates, unparsed: such files may
/// hold megabytes of other data.
#[derive(Default)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl Members<'_> {
    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Returns how often a key appears.
    pub(super) fn count(&self, key: &str) -> usize {
        self.0.iter().filter(|(name, _)| name == key).count()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(member) = map.next_entry()? {
            members.0.push(member);
        }
        Ok(members)
    }
}
