//! Rule: a relative link in a Markdown file points to something that exists.
//!
//! Documents that point nowhere teach people not to follow links. Addresses on
//! the web are not checked: a test must not depend on someone else's server.

use super::Violation;

/// Checks the links of the file at `path`; `exists` knows every path from the top.
pub fn check(path: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for target in targets(&without_code(line)) {
            if !points_somewhere(path, &target, exists) {
                violations.push(Violation {
                    path: path.into(),
                    line: number + 1,
                    message: format!("the link to `{target}` points nowhere"),
                    remedy: "correct the path, which is relative to this file",
                });
            }
        }
    }
    violations
}

/// The line without its `code spans`: the odd pieces between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of `[text](target)` and of `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target);
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect()
}

fn points_somewhere(path: &str, target: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    let elsewhere = target.contains("://") || target.starts_with("mailto:");
    let file = target.split('#').next().unwrap_or_default();
    elsewhere || file.is_empty() || resolve(path, file).is_some_and(|found| exists(&found))
}

/// The path from the top that `target` means in the file at `path`.
fn resolve(path: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[&str] = &[
        "README.md",
        "docs",
        "docs/adr/README.md",
        "docs/adr/0001-a.md",
    ];

    #[track_caller]
    fn check_text(path: &str, text: &str, lines: &[usize]) {
        let found = check(path, text, &|target| FILES.contains(&target));
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn links_to_files_and_folders_pass() {
        check_text(
            "README.md",
            "[a](docs/adr/0001-a.md#why) [b](docs/) [c](#here)",
            &[],
        );
        check_text(
            "docs/adr/0001-a.md",
            "[a](README.md) [b](../../README.md \"Top\")",
            &[],
        );
        check_text("README.md", "[a]: docs/adr/0001-a.md", &[]);
    }

    #[test]
    fn links_to_nothing_are_found() {
        check_text(
            "README.md",
            "fine\n[a](docs/b.md) and [b](adr/0001-a.md)",
            &[2, 2],
        );
        check_text("README.md", "[a]: docs/b.md", &[1]);
        check_text("README.md", "[a](../README.md)", &[1]);
    }

    #[test]
    fn the_web_and_code_are_not_checked() {
        check_text("README.md", "[a](https://example.com/x) `[b](c.md)`", &[]);
        check_text("README.md", "```md\n[a](b.md)\n```", &[]);
    }
}
