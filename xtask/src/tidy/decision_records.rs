//! Rule: decision records are numbered without gaps and listed in their index.
//!
//! People refer to a decision by its number for years. A gap makes them look for
//! a lost file, and a record that is not listed is not read.

use super::Violation;

const FOLDER: &str = "docs/adr/";
pub const INDEX: &str = "docs/adr/README.md";

/// Checks the records among `paths` against the contents of the index.
pub fn check(paths: &[&str], index: Option<&str>) -> Vec<Violation> {
    let mut names: Vec<&str> = paths
        .iter()
        .filter_map(|path| path.strip_prefix(FOLDER))
        .filter(|name| name.ends_with(".md") && *name != "README.md")
        .collect();
    names.sort_unstable();
    let index = index.unwrap_or_default();
    let mut violations = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let expected = format!("{:04}-", position + 1);
        if !name.starts_with(&expected) {
            violations.push(Violation {
                path: format!("{FOLDER}{name}"),
                line: 1,
                message: format!("the name does not begin with {expected}"),
                remedy: "number the records 0001, 0002… without gaps or duplicates",
            });
        }
        if !index.contains(&format!("({name})")) {
            violations.push(Violation {
                path: INDEX.into(),
                line: 1,
                message: format!("{name} is not listed"),
                remedy: "add a row that links to it",
            });
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_names(names: &[&str], index: &str, messages: &[&str]) {
        let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let found = check(&paths, Some(index));
        let found: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(found, messages);
    }

    #[test]
    fn consecutive_records_pass() {
        let names = ["README.md", "0001-a.md", "0002-b.md"];
        check_names(&names, "[1](0001-a.md) [2](0002-b.md)", &[]);
    }

    #[test]
    fn gaps_and_duplicates_are_found() {
        let index = "(0001-a.md) (0001-b.md) (0003-c.md)";
        let gap = "the name does not begin with 0002-";
        check_names(&["0001-a.md", "0003-c.md"], index, &[gap]);
        check_names(&["0001-a.md", "0001-b.md"], index, &[gap]);
    }

    #[test]
    fn unlisted_records_are_found() {
        check_names(&["0001-a.md"], "0001-a.md", &["0001-a.md is not listed"]);
    }
}
