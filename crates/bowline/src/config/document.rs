//! Editing the text of a configuration while preserving its formatting.

use std::ops::Range;

use serde_json::value::RawValue;

use super::{
    Problem, ProblemKind, ServersFile,
    fields::type_name,
    jsonc,
    report::Report,
    sections::{Members, SERVERS, Sections},
};
use crate::proto::jsonrpc::range_of;

/// The default indentation, if the text does not show one.
const INDENT: &str = "  ";

/// The text of a JSON configuration in which servers can be added and removed.
/// Comments, order and layout of the rest are preserved.
///
/// ```
/// use bowline::config::ConfigDocument;
///
/// let text = "{\n  // Mine.\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // old\n  }\n}\n";
/// let mut document = ConfigDocument::parse(text)?;
/// document.insert("b", r#"{"url": "https://example.com/mcp"}"#)?;
/// assert_eq!(
///     document.as_str(),
///     "{\n  // Mine.\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // old\n    \
///      \"b\": {\"url\": \"https://example.com/mcp\"}\n  }\n}\n",
/// );
/// document.remove("a")?;
/// assert_eq!(document.names(), ["b"]);
/// # Ok::<(), bowline::config::Problem>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigDocument {
    text: String,
    names: Vec<String>,
}

impl ConfigDocument {
    /// Parses an existing configuration. Empty text is a configuration without servers.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON or does not have the structure of a
    /// configuration, because the effect of a change would be unclear.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = if jsonc::strip(text).trim().is_empty() {
            format!("{}{{}}\n", text.trim_start_matches('\u{feff}'))
        } else {
            text.to_owned()
        };
        let names = servers_in(&text)?.map(|servers| servers.names());
        Ok(Self {
            text,
            names: names.unwrap_or_default(),
        })
    }

    /// Returns the names of the servers, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the current text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds a server after the others, or replaces the entry of an existing one.
    /// `entry` is JSON; it is indented to match its surroundings.
    ///
    /// # Errors
    ///
    /// Returns an error if `entry` is not JSON, or if the text would have two servers
    /// of this name, because programs do not agree on which one counts. The text is
    /// then unchanged.
    pub fn insert(&mut self, name: &str, entry: &str) -> Result<(), Problem> {
        let text = match servers_in(&self.text)? {
            Some(servers) => servers.with_member(name, entry),
            None => {
                let key = to_json_string(name);
                let entry = indented(entry, INDENT);
                let servers = format!("{{\n{INDENT}{key}: {entry}\n}}");
                root(&self.text)?.with_member(SERVERS[0], &servers)
            }
        };
        let changed = Self::parse(&text)?;
        check_unique(&text, name)?;
        *self = changed;
        Ok(())
    }

    /// Removes a server. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// Returns an error if the text without it would be invalid. The text is then
    /// unchanged.
    pub fn remove(&mut self, name: &str) -> Result<bool, Problem> {
        let servers = servers_in(&self.text)?;
        let Some(text) = servers.and_then(|servers| servers.without_member(name)) else {
            return Ok(false);
        };
        *self = Self::parse(&text)?;
        Ok(true)
    }
}

/// An object in the text, with the positions of its members.
struct Object<'a> {
    text: &'a str,
    /// From brace to brace.
    span: Range<usize>,
    members: Vec<Member>,
}

struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

fn root(text: &str) -> Result<Object<'_>, Problem> {
    let stripped = jsonc::strip(text);
    let root: &RawValue = serde_json::from_str(&stripped).map_err(|error| {
        let mut file = ServersFile::from_syntax_error(text, &error);
        file.problems.remove(0)
    })?;
    Object::find(text, &stripped, root).ok_or_else(|| not_an_object("", root))
}

/// Finds the object whose members are the servers.
fn servers_in(text: &str) -> Result<Option<Object<'_>>, Problem> {
    let root = root(text)?;
    let is_servers = |member: &&Member| SERVERS.contains(&member.key.as_str());
    let Some(member) = root.members.iter().find(is_servers) else {
        return Ok(None);
    };
    let stripped = jsonc::strip(text);
    let position = member.value.clone();
    // It was already parsed as part of the whole.
    let servers: &RawValue = serde_json::from_str(&stripped[position]).unwrap_or(RawValue::NULL);
    let found = Object::find(text, &stripped, servers);
    found
        .map(Some)
        .ok_or_else(|| not_an_object(&member.key, servers))
}

/// Rejects text in which a server appears twice, in one section or in two.
fn check_unique(text: &str, name: &str) -> Result<(), Problem> {
    let stripped = jsonc::strip(text);
    let mut report = Report::default();
    // It was already parsed.
    let root: &RawValue = serde_json::from_str(&stripped).unwrap_or(RawValue::NULL);
    let sections = Sections::find(root, None, &mut report);
    let is_duplicate = |problem: &Problem| problem.kind == ProblemKind::DuplicateKey;
    if let Some(at) = report.problems.iter().position(is_duplicate) {
        return Err(report.problems.remove(at));
    }
    let mut entries = sections.entries.iter().filter(|entry| entry.name == name);
    match (entries.next(), entries.next()) {
        (_, None) => Ok(()),
        (_, Some(second)) => {
            let mut report = Report {
                server: Some(name.to_owned()),
                ..Report::default()
            };
            report.add(&second.path, ProblemKind::Duplicate);
            Err(report.problems.remove(0))
        }
    }
}

fn not_an_object(path: &str, value: &RawValue) -> Problem {
    let value = serde_json::from_str(value.get()).unwrap_or_default();
    let mut report = Report::default();
    let (expected, found) = ("an object", type_name(&value));
    report.add(path, ProblemKind::WrongType { expected, found });
    report.problems.remove(0)
}

impl<'a> Object<'a> {
    /// Finds the members of an object in the stripped text, whose byte offsets are
    /// those of the original text.
    fn find(text: &'a str, stripped: &str, object: &RawValue) -> Option<Self> {
        let range = |part: &str| range_of(part.as_bytes(), stripped.as_bytes());
        let found: Members<'_> = serde_json::from_str(object.get()).ok()?;
        let span = range(object.get())?;
        let mut end = span.start + 1;
        let mut members = Vec::new();
        for (key, value) in found.0 {
            let between = &stripped[end..];
            let start = end + between.find('"').unwrap_or_default();
            let value = range(value.get())?;
            end = value.end;
            members.push(Member { key, start, value });
        }
        Some(Self {
            text,
            span,
            members,
        })
    }

    fn names(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| member.key.clone())
            .collect()
    }

    /// Returns the text with a member added or its value replaced.
    fn with_member(&self, key: &str, value: &str) -> String {
        if let Some(member) = self.members.iter().find(|member| member.key == key) {
            let value = indented(value, indentation(self.text, member.start));
            return self.spliced(&[(member.value.clone(), value)]);
        }
        let Some(last) = self.members.last() else {
            return self.with_first_member(key, value);
        };
        let indent = indentation(self.text, last.start);
        let value = indented(value, indent);
        let member = format!("{}: {value}", to_json_string(key));
        let own_line = self.is_line_start(last.start);
        let (comma, trailing) = match trailing_comma(self.text, last.value.end) {
            Some(comma) => (None, Some(comma)),
            None => (Some((last.value.end..last.value.end, ",".to_owned())), None),
        };
        let after = trailing.map_or(last.value.end, |comma| comma + 1);
        let end = if trailing.is_some() { "," } else { "" };
        let added = if own_line {
            let position = end_of_line(self.text, after);
            (position..position, format!("\n{indent}{member}{end}"))
        } else {
            (after..after, format!(" {member}{end}"))
        };
        let changes: Vec<_> = comma.into_iter().chain([added]).collect();
        self.spliced(&changes)
    }

    fn with_first_member(&self, key: &str, value: &str) -> String {
        let outer = indentation(self.text, self.span.start);
        let indent = format!("{outer}{INDENT}");
        let value = indented(value, &indent);
        let inside = self.span.start + 1..self.span.end - 1;
        // Comments stay above.
        let existing = self.text[inside.clone()].trim_end();
        let added = format!(
            "{existing}\n{indent}{}: {value}\n{outer}",
            to_json_string(key)
        );
        self.spliced(&[(inside, added)])
    }

    /// Returns the text without a member, if it exists.
    fn without_member(&self, key: &str) -> Option<String> {
        let at = self.members.iter().position(|member| member.key == key)?;
        let member = &self.members[at];
        let comma = trailing_comma(self.text, member.value.end);
        let before = at.checked_sub(1).map(|before| &self.members[before]);
        let mut changes = Vec::new();
        // Without a comma after it, the one before it must go.
        if let (None, Some(before)) = (comma, before) {
            let comma = trailing_comma(self.text, before.value.end);
            changes.extend(comma.map(|comma| (comma..comma + 1, String::new())));
        }
        let mut end = comma.map_or(member.value.end, |comma| comma + 1);
        let mut start = member.start;
        let line = end_of_line(self.text, end);
        if self.is_line_start(start) && self.text[line..].starts_with(['\n', '\r']) {
            // Remove the whole line, including the line break before it.
            start = self.text[..start].trim_end_matches([' ', '\t']).len();
            start -= usize::from(start > 0);
            start -= usize::from(self.text[..start].ends_with('\r'));
            end = line;
        } else if comma.is_some() {
            end += self.text[end..].len() - self.text[end..].trim_start_matches(' ').len();
        }
        changes.push((start..end, String::new()));
        Some(self.spliced(&changes))
    }

    fn is_line_start(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        before.ends_with('\n')
    }

    /// Returns the text with ranges replaced, which must be in ascending order.
    fn spliced(&self, changes: &[(Range<usize>, String)]) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, text) in changes {
            out.push_str(&self.text[at..range.start]);
            out.push_str(text);
            at = range.end;
        }
        out.push_str(&self.text[at..]);
        out
    }
}

/// Returns the position of the comma after a value, skipping white space and comments.
fn trailing_comma(text: &str, mut at: usize) -> Option<usize> {
    while let Some(length) = jsonc::blank_length(&text[at..]) {
        at += length;
    }
    text[at..].starts_with(',').then_some(at)
}

/// Returns the end of the line if only white space and comments precede it, else `at`.
fn end_of_line(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let rest = &text[end..];
        if rest.is_empty() || rest.starts_with(['\n', '\r']) {
            return end;
        }
        match jsonc::blank_length(rest) {
            Some(length) if !rest[..length].contains('\n') => end += length,
            _ => return at,
        }
    }
}

/// Returns the indentation of the line at a position.
fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[..blanks]
}

/// Indents all lines after the first.
fn indented(text: &str, indent: &str) -> String {
    text.trim().replace('\n', &format!("\n{indent}"))
}

fn to_json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_insert(before: &str, after: &str) {
        let mut document = ConfigDocument::parse(before).expect("it is one");
        document
            .insert("new", "{\n  \"url\": 1\n}")
            .expect("it fits");
        assert_eq!(document.as_str(), after);
        assert!(document.names().contains(&"new".to_owned()));
    }

    #[test]
    fn servers_are_added_at_the_end() {
        check_insert(
            "",
            "{\n  \"mcpServers\": {\n    \"new\": {\n      \"url\": 1\n    }\n  }\n}\n",
        );
        check_insert(
            "{\"mcpServers\": {}}",
            "{\"mcpServers\": {\n  \"new\": {\n    \"url\": 1\n  }\n}}",
        );
        check_insert(
            "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // last\n\t\t// none\n\t}\n}",
            "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // last\n\t\t\"new\": {\n\t\t  \"url\": 1\n\
             \t\t},\n\t\t// none\n\t}\n}",
        );
        check_insert(
            "{\"x\": 1, \"servers\": {\"a\": {}}}",
            "{\"x\": 1, \"servers\": {\"a\": {}, \"new\": {\n  \"url\": 1\n}}}",
        );
        check_insert(
            "// top\n{\n  \"mcpServers\": {\n    // empty\n  }\n}\n",
            "// top\n{\n  \"mcpServers\": {\n    // empty\n    \"new\": {\n      \"url\": 1\n    \
             }\n  }\n}\n",
        );
        check_insert(
            "{\n  \"theme\": \"dark\"\n}\n",
            "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"new\": {\n      \"url\": 1\n    \
             }\n  }\n}\n",
        );
    }

    #[test]
    fn an_entry_can_be_replaced() {
        check_insert(
            "{\"mcpServers\": {\n  \"new\": {\"a\": [1,]}, // here\n  \"b\": {}\n}}",
            "{\"mcpServers\": {\n  \"new\": {\n    \"url\": 1\n  }, // here\n  \"b\": {}\n}}",
        );
    }

    #[track_caller]
    fn check_remove(before: &str, after: &str) {
        let mut document = ConfigDocument::parse(before).expect("it is one");
        assert!(document.remove("old").expect("it can be removed"));
        assert_eq!(document.as_str(), after);
        assert!(!document.remove("old").expect("it is not there"));
    }

    #[test]
    fn servers_are_removed_with_their_commas() {
        check_remove(
            "{\"servers\": {\n  \"old\": {}, // o\n  // b\n  \"b\": {}\n}}",
            "{\"servers\": {\n  // b\n  \"b\": {}\n}}",
        );
        check_remove(
            "{\"servers\": {\n  \"b\": {}, // b\n  \"old\": {\n  }\n}}",
            "{\"servers\": {\n  \"b\": {} // b\n}}",
        );
        check_remove(
            "{\"servers\": {\r\n  \"b\": {},\r\n  \"old\": {},\r\n}}",
            "{\"servers\": {\r\n  \"b\": {},\r\n}}",
        );
        check_remove("{\"servers\": {\"old\": {}}}", "{\"servers\": {}}");
        check_remove(
            "{\"servers\": {\"old\": {}, \"b\": {}}}",
            "{\"servers\": {\"b\": {}}}",
        );
        check_remove("{\"servers\": {\n  \"old\": {}\n}}", "{\"servers\": {\n}}");
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        for text in [
            "[",
            "[]",
            "{\"mcpServers\": []}",
            "{\"mcpServers\": {\"a\": }}",
        ] {
            assert!(ConfigDocument::parse(text).is_err(), "{text}");
        }
        let mut document = ConfigDocument::parse("{}").expect("it is one");
        let before = document.clone();
        assert!(document.insert("a", "{").is_err());
        assert_eq!(document, before);
    }

    #[test]
    fn nothing_is_added_that_stands_elsewhere_as_well() {
        for text in [
            r#"{"mcpServers": {}, "servers": {"new": {}}}"#,
            r#"{"servers": {}, "mcpServers": {"new": {}}}"#,
            r#"{"mcp": {"servers": {"new": {}}}}"#,
            r#"{"mcpServers": {"new": {}, "new": {}}}"#,
            r#"{"mcpServers": {}, "mcpServers": {"new": {}}}"#,
            r#"{"mcpServers": {}, "mcpServers": {}}"#,
        ] {
            let mut document = ConfigDocument::parse(text).expect("it is one");
            let problem = document.insert("new", "{}").expect_err(text);
            let kinds = [ProblemKind::Duplicate, ProblemKind::DuplicateKey];
            assert!(kinds.contains(&problem.kind), "{text}: {problem}");
            assert_eq!(document.as_str(), text);
        }
        let text = r#"{"mcpServers": {}, "servers": {"old": {}}}"#;
        let mut document = ConfigDocument::parse(text).expect("it is one");
        document.insert("new", "{}").expect("it is nowhere else");
    }

    fn blank() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[ \t]{0,2}",
            2 => "\r?\n[ \t]{0,4}",
            1 => "[ ]?//[a-z\",}]{0,5}\n[ ]{0,4}",
            1 => "/\\*[a-z\",}\n]{0,5}\\*/",
        ]
    }

    /// A configuration as people write them, and the names in it.
    fn written() -> impl Strategy<Value = (String, Vec<String>)> {
        let blanks = prop::collection::vec(blank(), 64);
        (0..5_usize, blanks, any::<bool>()).prop_map(|(count, blanks, trailing)| {
            let mut blanks = blanks.into_iter().cycle();
            let mut next = || blanks.next().unwrap_or_default();
            let names: Vec<String> = (0..count).map(|at| format!("s{at}")).collect();
            let mut text = format!(
                "{}{{{}\"mcpServers\"{}:{}{{",
                next(),
                next(),
                next(),
                next()
            );
            for (at, name) in names.iter().enumerate() {
                let comma = if at + 1 < count || trailing { "," } else { "" };
                let (before, after) = (next(), next());
                text += &format!("{before}\"{name}\":{}{{}}{after}{comma}", next());
            }
            text += &format!("{}}}{}}}{}", next(), next(), next());
            (text, names)
        })
    }

    fn comments(text: &str) -> usize {
        text.matches("//").count() + text.matches("/*").count()
    }

    proptest! {
        #[test]
        fn whatever_is_written_stays_readable((text, names) in written(), at in 0..5_usize) {
            let mut document = ConfigDocument::parse(&text).expect("it is one");
            prop_assert_eq!(document.names(), &names[..]);
            document.insert("new", "{\n  \"url\": 1\n}").expect("it fits");
            let mut with = names.clone();
            with.push("new".to_owned());
            prop_assert_eq!(document.names(), &with[..]);
            prop_assert_eq!(comments(document.as_str()), comments(&text));
            let removed = with.remove(at.min(names.len()));
            prop_assert!(document.remove(&removed).expect("it can be removed"));
            prop_assert_eq!(document.names(), &with[..]);
        }
    }
}
