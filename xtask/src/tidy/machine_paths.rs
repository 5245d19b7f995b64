//! Rule: no file names a place on somebody's machine.
//!
//! Such a path works for one person, tells strangers how that person's disk is
//! laid out, and usually came in by pasting. The home folder of nobody in
//! particular, `user`, is what the MCP specification uses in its examples, so
//! fixtures may have it.

use super::{Violation, source};

/// First folders of such paths; in parts, so that this file obeys its own rule.
const FOLDERS: &[&str] = &["home", "root", "work", "Users"];
const NOBODY: &str = "user";
/// What may stand before the first slash of a path.
const BEFORE: &str = " \t\n\"'`([{<>=:,;|/";

pub fn check(path: &str, text: &str) -> Vec<Violation> {
    FOLDERS
        .iter()
        .flat_map(|folder| find(text, folder))
        .map(|(offset, found)| Violation {
            path: path.into(),
            line: source::line(text, offset),
            message: format!("`{found}…` is a path on one machine"),
            remedy: "use a relative path, or a made-up one",
        })
        .collect()
}

fn find(text: &str, folder: &str) -> Vec<(usize, String)> {
    let start = format!("/{folder}/");
    text.match_indices(&start)
        .filter(|&(offset, _)| {
            text[..offset]
                .chars()
                .next_back()
                .is_none_or(|c| BEFORE.contains(c))
        })
        .filter(|&(offset, _)| folder != "home" || !is_nobody(&text[offset + start.len()..]))
        .map(|(offset, _)| (offset, start.clone()))
        .collect()
}

fn is_nobody(rest: &str) -> bool {
    rest.strip_prefix(NOBODY).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, lines: &[usize]) {
        // `%` stands for the slash that begins a path, for the rule reads this file too.
        let found = check("a.md", &text.replace('%', "/"));
        assert_eq!(
            found.iter().map(|v| v.line).collect::<Vec<_>>(),
            lines,
            "{text}"
        );
    }

    #[test]
    fn machine_paths_are_found() {
        check_text("fine\nsee %home/me/x", &[2]);
        check_text("\"%root/x\"", &[1]);
        check_text("(%work/x) `%Users/me/x`", &[1, 1]);
        check_text("file://%work/x", &[1]);
        check_text("%home/username/x", &[1]);
    }

    #[test]
    fn other_paths_are_fine() {
        check_text("example.com%home/me ../work/x net%work/x", &[]);
        check_text("file://%home/user/projects", &[]);
        check_text("homework/root/x", &[]);
    }
}
