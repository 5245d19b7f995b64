//! Compiler messages without what differs between machines, or with every edit
//! of the library: absolute paths, and line numbers outside of the case.

use super::workspace;

/// Paths are relative to this folder.
const CRATE: &str = "crates/bowline/";
/// What the compiler says last: how many errors there were.
const SUMMARY: &str = "\nerror: aborting due to ";
/// Notes about files that the compiler wrote for long types.
const TYPE_FILE_NOTES: [&str; 2] = [
    "the full name for the type has been written to",
    "consider using `--verbose` to print the full type name",
];

/// Normalizes the messages for one case.
pub(super) fn normalize(messages: &str) -> String {
    let mut in_case = true;
    let mut normalized = String::new();
    let end = messages.find(SUMMARY).unwrap_or(messages.len());
    for line in messages[..end].trim_end().lines() {
        if TYPE_FILE_NOTES.iter().any(|note| line.contains(note)) {
            continue;
        }
        let line = without_machine_paths(line);
        let content = line.trim_start();
        let line = if let Some((arrow, place)) = place(content) {
            in_case = place.starts_with("tests/ui/");
            let place = if in_case { place } else { path_of(place) };
            format!("  {arrow} {place}")
        } else if let Some((number, code)) = source_line(content) {
            let number = if in_case { number } else { "" };
            format!("{number:>2} |{code}")
        } else if content.starts_with("= ") {
            format!("   {content}")
        } else {
            without_count(&line)
        };
        normalized.push_str(line.trim_end());
        normalized.push('\n');
    }
    normalized
}

/// Takes the line above a source excerpt apart.
fn place(line: &str) -> Option<(&str, &str)> {
    let (arrow, place) = line.split_once(' ')?;
    ["-->", ":::"].contains(&arrow).then_some((arrow, place))
}

/// Takes a line of a source excerpt apart: its number, if it has one, and the
/// code or the markers below it.
fn source_line(line: &str) -> Option<(&str, &str)> {
    let (number, code) = line.split_once('|')?;
    let number = number.trim_end();
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, code))
}

/// The path of `path:line:column`.
fn path_of(place: &str) -> &str {
    place.split(':').next().unwrap_or(place)
}

/// Replaces the number in "and 9 others", which grows with the library.
fn without_count(line: &str) -> String {
    match line.trim().strip_prefix("and ") {
        Some(rest) if rest.ends_with(" others") => {
            let indent = &line[..line.len() - line.trim_start().len()];
            format!("{indent}and $N others")
        }
        _ => line.to_owned(),
    }
}

/// Shortens paths to what they begin with on every machine.
fn without_machine_paths(line: &str) -> String {
    let workspace = format!("{}/", workspace().display());
    let line = line.replace(&workspace, "").replace(CRATE, "");
    let line = without_registry(&after_marker(&line, "/registry/src/", "$REGISTRY"));
    after_marker(&line, "/library/", "$RUST")
}

/// Replaces an absolute path up to a marker.
fn after_marker(line: &str, marker: &str, replacement: &str) -> String {
    let Some(at) = line.find(marker) else {
        return line.to_owned();
    };
    let start = line[..at].rfind([' ', '`', '@']).map_or(0, |it| it + 1);
    let rest = &line[at + marker.len()..];
    format!("{}{replacement}/{rest}", &line[..start])
}

/// Shortens the path of a crate of a registry, which has the registry's name and
/// the crate's version in it.
fn without_registry(line: &str) -> String {
    let Some((before, after)) = line.split_once("$REGISTRY/") else {
        return line.to_owned();
    };
    let mut folders = after.splitn(3, '/').skip(1);
    let name = folders.next().unwrap_or_default();
    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
    let inside = folders.next().unwrap_or_default();
    format!("{before}$CARGO/{name}/{inside}")
}

#[test]
fn excerpts_of_the_library_have_no_line_numbers() {
    let messages = "error: no\n   --> tests/ui/a.rs:9:2\n    |\n  9 |     b();\n    |     ^\n\
        note: because\n   --> src/b.rs:120:3\n    |\n120 |     pub fn b() {}\n    = help: it\n\nerror: aborting due to 1 previous error\n";
    let expected = "error: no\n  --> tests/ui/a.rs:9:2\n   |\n 9 |     b();\n   |     ^\n\
        note: because\n  --> src/b.rs\n   |\n   |     pub fn b() {}\n   = help: it\n";
    assert_eq!(normalize(messages), expected);
    assert_eq!(
        normalize("        and 12 others"),
        "        and $N others\n"
    );
}
