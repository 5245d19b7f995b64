//! Rule: the book's table of contents lists every guide once, and only guides.
//!
//! `cargo xtask book` builds what `SUMMARY.md` lists. A guide that is not listed
//! is not in the book, and nobody notices.

use super::{Violation, links};

const FOLDER: &str = "docs/guides/";
pub const SUMMARY: &str = "docs/guides/SUMMARY.md";

/// Checks the guides among `paths` against the text of the summary.
pub fn check(paths: &[&str], summary: Option<&str>) -> Vec<Violation> {
    let entries = links::all_targets(summary.unwrap_or_default());
    let guides: Vec<&str> = paths
        .iter()
        .filter(|path| **path != SUMMARY)
        .filter_map(|path| path.strip_prefix(FOLDER))
        .filter(|name| name.ends_with(".md"))
        .collect();
    let mut violations = Vec::new();
    for guide in &guides {
        let count = entries.iter().filter(|entry| entry == guide).count();
        if count != 1 {
            violations.push(violation(
                format!("{guide} is listed {count} times"),
                "list each guide once, where it belongs in the reading order",
            ));
        }
    }
    for entry in &entries {
        if !guides.contains(&entry.as_str()) {
            violations.push(violation(
                format!("`{entry}` is not a guide"),
                "list files of docs/guides only, without an anchor",
            ));
        }
    }
    violations
}

fn violation(message: String, remedy: &'static str) -> Violation {
    Violation {
        path: SUMMARY.into(),
        line: 1,
        message,
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_summary(summary: &str, messages: &[&str]) {
        let paths = [
            SUMMARY,
            "docs/guides/a.md",
            "docs/guides/b.md",
            "docs/guides/demo.in",
            "docs/adr/README.md",
        ];
        let found = check(&paths, Some(summary));
        let found: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(found, messages, "{summary}");
    }

    #[test]
    fn every_guide_is_listed_once() {
        check_summary("[A](a.md)\n\n- [B](b.md)\n", &[]);
        check_summary("- [A](a.md)\n", &["b.md is listed 0 times"]);
        check_summary(
            "- [A](a.md)\n- [B](b.md)\n- [B](b.md)\n",
            &["b.md is listed 2 times"],
        );
    }

    #[test]
    fn every_entry_is_a_guide() {
        check_summary(
            "- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n- [D](../adr/README.md)\n",
            &["`c.md` is not a guide", "`../adr/README.md` is not a guide"],
        );
    }
}
