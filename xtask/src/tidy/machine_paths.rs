//! Rule: no file contains a path of somebody's machine.
//!
//! Such a path works on one machine only, discloses how it is set up, and was
//! usually pasted by mistake. The home folder of `user` is allowed, because the
//! examples of the MCP specification use it.

use super::{Violation, source};

/// The first folders of such paths, without slashes so this file passes.
const FOLDERS: &[&str] = &["home", "root", "work", "Users"];
const EXAMPLE_USER: &str = "user";
/// The characters that may precede a path.
const DELIMITERS: &str = " \t\n\"'`([{<>=:,;|/";

pub fn check(path: &str, text: &str) -> Vec<Violation> {
    FOLDERS
        .iter()
        .flat_map(|folder| find(text, folder))
        .map(|(offset, found)| Violation {
            path: path.into(),
            line: source::line(text, offset),
            message: format!("`{found}…` is a path of one machine"),
            remedy: "use a relative path or an invented one",
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
                .is_none_or(|c| DELIMITERS.contains(c))
        })
        .filter(|&(offset, _)| folder != "home" || !is_example_user(&text[offset + start.len()..]))
        .map(|(offset, _)| (offset, start.clone()))
        .collect()
}

fn is_example_user(rest: &str) -> bool {
    rest.strip_prefix(EXAMPLE_USER).is_some_and(|rest| {
        !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, lines: &[usize]) {
        // `%` stands for the first slash of a path, because this file is checked too.
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
    fn other_paths_pass() {
        check_text("example.com%home/me ../work/x net%work/x", &[]);
        check_text("file://%home/user/projects", &[]);
        check_text("homework/root/x", &[]);
    }
}
