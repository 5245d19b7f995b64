//! Rule: a relative link in a Markdown file points to a file, and a heading, that exist.
//!
//! Broken links teach readers not to follow links. URLs are not checked: a test
//! must not depend on someone else's server.

use std::collections::BTreeMap;

use super::{Tree, Violation};

/// Checks the links of the Markdown file at `path`.
pub fn check(path: &str, text: &str, tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in prose_lines(text) {
        for target in targets(&without_code(line)) {
            if let Some((message, remedy)) = problem(path, &target, tree) {
                violations.push(Violation {
                    path: path.into(),
                    line: number,
                    message,
                    remedy,
                });
            }
        }
    }
    violations
}

/// The targets of all links in a Markdown file.
pub fn all_targets(text: &str) -> Vec<String> {
    prose_lines(text)
        .flat_map(|(_, line)| targets(&without_code(line)))
        .collect()
}

/// The path from the repository's root of the file that `target` points to,
/// when it is linked from the file at `path`.
pub fn resolve(path: &str, target: &str) -> Option<String> {
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

/// Splits the anchor off a link's target.
pub fn split_anchor(target: &str) -> (&str, Option<&str>) {
    match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    }
}

/// The lines outside of code blocks, with their numbers.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
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

/// What is wrong with a link, and what to do about it.
fn problem(path: &str, target: &str, tree: &Tree) -> Option<(String, &'static str)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = split_anchor(target);
    let linked = match file {
        "" => Some(path.to_owned()),
        file => resolve(path, file),
    };
    let Some(linked) = linked.filter(|linked| tree.exists(linked)) else {
        return Some((
            format!("broken link: `{target}` does not exist"),
            "correct the path, which is relative to this file",
        ));
    };
    let text = tree.text(&linked).filter(|_| linked.ends_with(".md"))?;
    let anchor = anchor.filter(|anchor| !anchors(text).iter().any(|known| known == anchor))?;
    Some((
        format!("broken link: {linked} has no heading `#{anchor}`"),
        "use the heading in lower case, with `-` for spaces and without punctuation",
    ))
}

/// The anchors of a file's headings, as GitHub and mdbook generate them.
fn anchors(text: &str) -> Vec<String> {
    let mut repeats: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose_lines(text).filter_map(|(_, line)| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then(|| heading.strip_prefix(' '))?
    });
    headings
        .map(|heading| {
            let anchor = anchor(heading);
            let repeat = repeats.entry(anchor.clone()).or_default();
            *repeat += 1;
            match *repeat {
                1 => anchor,
                count => format!("{anchor}-{}", count - 1),
            }
        })
        .collect()
}

fn anchor(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ => character.is_alphanumeric().then_some(character),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("README.md", "# Top\n\n## Who asks?\n\n## Who asks?\n"),
        ("docs/adr/README.md", ""),
        ("docs/adr/0001-a.md", "## Why\n```text\n## Not this\n```\n"),
        ("docs/code.rs", ""),
    ];

    #[track_caller]
    fn check_text(path: &str, text: &str, lines: &[usize]) {
        let found = check(path, text, &Tree::from_texts(FILES));
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn links_to_files_and_folders_pass() {
        check_text("README.md", "[a](docs/adr/0001-a.md) [b](docs/)", &[]);
        check_text(
            "docs/adr/0001-a.md",
            "[a](README.md) [b](../../README.md \"Top\")",
            &[],
        );
        check_text("README.md", "[a]: docs/adr/0001-a.md", &[]);
    }

    #[test]
    fn broken_links_are_found() {
        check_text(
            "README.md",
            "fine\n[a](docs/b.md) and [b](adr/0001-a.md)",
            &[2, 2],
        );
        check_text("README.md", "[a]: docs/b.md", &[1]);
        check_text("README.md", "[a](../README.md)", &[1]);
    }

    #[test]
    fn anchors_are_headings() {
        check_text("README.md", "[a](docs/adr/0001-a.md#why) [b](#top)", &[]);
        check_text("README.md", "[a](#who-asks) [b](#who-asks-1)", &[]);
        check_text("README.md", "[a](docs/adr/0001-a.md#not-this)", &[1]);
        check_text("README.md", "[a](#Top) [b](#who-asks-2)", &[1, 1]);
        check_text("README.md", "[a](docs/code.rs#L10)", &[]);
    }

    #[test]
    fn anchors_are_generated_as_github_does() {
        for (heading, expected) in [
            ("Names: `server__tool`", "names-server__tool"),
            ("Is it still there?", "is-it-still-there"),
            ("One client, and all of them", "one-client-and-all-of-them"),
            ("What `connect` waits for", "what-connect-waits-for"),
        ] {
            assert_eq!(anchor(heading), expected);
        }
    }

    #[test]
    fn urls_and_code_are_not_checked() {
        check_text("README.md", "[a](https://example.com/x#y) `[b](c.md)`", &[]);
        check_text("README.md", "```md\n[a](b.md)\n```", &[]);
    }
}
