//! Finding the servers in a file, in whichever dialect it is written.

use std::{fmt, path::Path};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::{
    Input, ProblemKind,
    fields::type_name,
    input,
    report::{Report, member},
};

/// The keys under which servers stand. VS Code's own file has the second, and
/// its settings have it inside of [`NESTED`].
pub(super) const SERVERS: &[&str] = &["mcpServers", "servers"];
const NESTED: &str = "mcp";
/// The key under which Claude Code keeps what is for one folder alone.
const LOCAL: &str = "projects";
const INPUTS: &str = "inputs";

/// What a file has to say of servers.
#[derive(Default)]
pub(super) struct Sections<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) inputs: Vec<Input>,
}

/// A server's entry, not read yet.
pub(super) struct Entry<'a> {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) text: &'a RawValue,
    /// Whether it is for the workspace alone.
    pub(super) is_local: bool,
}

impl<'a> Sections<'a> {
    /// The servers of a file in the order in which they stand there. Those
    /// that Claude Code keeps for the workspace alone come last.
    pub(super) fn find(root: &'a RawValue, workspace: Option<&Path>, report: &mut Report) -> Self {
        let mut sections = Self::default();
        let Some(members) = object(root, "", report) else {
            return sections;
        };
        let mut found = sections.collect(&members, "", report);
        if let Some(nested) = quietly(&members, NESTED, NESTED, report) {
            found |= sections.collect(&nested, NESTED, report);
        }
        let general = sections.entries.len();
        if let Some(workspace) = workspace {
            let workspace = workspace.to_string_lossy();
            let path = member(LOCAL, &workspace);
            let projects = quietly(&members, LOCAL, LOCAL, report);
            let project = projects.and_then(|all| quietly(&all, &workspace, &path, report));
            if let Some(project) = project {
                found |= sections.collect(&project, &path, report);
            }
        }
        for entry in sections.entries.iter_mut().skip(general) {
            entry.is_local = true;
        }
        if !found {
            misplaced(&members, report);
        }
        sections
    }

    /// Collects what stands in an object under the known keys. Says whether
    /// there were any.
    fn collect(&mut self, members: &Members<'a>, path: &str, report: &mut Report) -> bool {
        let mut found = false;
        let known = [INPUTS].iter().chain(SERVERS);
        let repeated: Vec<&str> = known
            .copied()
            .filter(|key| members.count(key) > 1)
            .collect();
        for key in &repeated {
            found = true;
            report.add(&member(path, key), ProblemKind::DuplicateKey);
        }
        for (key, text) in &members.0 {
            if repeated.contains(&key.as_str()) {
                continue;
            }
            if key == INPUTS {
                let value = serde_json::from_str(text.get()).unwrap_or(Value::Null);
                self.inputs.extend(input::read(&value));
            }
            if !SERVERS.contains(&key.as_str()) {
                continue;
            }
            found = true;
            let path = member(path, key);
            let servers = object(text, &path, report).unwrap_or_default();
            self.entries
                .extend(servers.0.into_iter().map(|(name, text)| Entry {
                    path: member(&path, &name),
                    name,
                    text,
                    is_local: false,
                }));
        }
        found
    }
}

/// Looks for servers that somebody wrote, but not where they are looked for.
fn misplaced(members: &Members<'_>, report: &mut Report) {
    let looks_so = |(key, text): &&(String, &RawValue)| {
        let word: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
        let word = word.to_lowercase();
        let is_server = |members: Members<'_>| members.has("command") || members.has("url");
        matches!(word.as_str(), "mcpserver" | "mcpservers" | "server")
            || serde_json::from_str(text.get()).is_ok_and(is_server)
    };
    if let Some((key, _)) = members.0.iter().find(looks_so) {
        report.add(&member("", key), ProblemKind::Misplaced);
    }
}

/// The members of an object. Anything else is reported.
fn object<'a>(text: &'a RawValue, path: &str, report: &mut Report) -> Option<Members<'a>> {
    let members = serde_json::from_str(text.get()).ok();
    if members.is_none() {
        let value = serde_json::from_str(text.get()).unwrap_or(Value::Null);
        let found = type_name(&value);
        let expected = "an object";
        report.add(path, ProblemKind::Type { expected, found });
    }
    members
}

/// The members of an object that other programs may use for other things.
fn quietly<'a>(
    members: &Members<'a>,
    key: &str,
    path: &str,
    report: &mut Report,
) -> Option<Members<'a>> {
    if members.count(key) > 1 {
        report.add(path, ProblemKind::DuplicateKey);
        return None;
    }
    let (_, text) = members.0.iter().find(|(name, _)| name == key)?;
    serde_json::from_str(text.get()).ok()
}

/// The members of an object, in order and with repetitions, not looked into:
/// such files may hold megabytes of other things.
#[derive(Default)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl Members<'_> {
    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// How often a key stands there.
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
