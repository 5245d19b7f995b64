//! `cargo xtask tidy`: checks the repository's rules that the compiler cannot check.
//!
//! An invariant that is only written down is broken within a year. So each one
//! is a rule here: one small file that says why the rule exists, with tests on
//! sample strings. A rule gets the contents of files and returns violations; it
//! opens no files.

mod decision_records;
mod dependencies;
mod dependency_tree;
mod duplicate_versions;
mod file_length;
mod files;
mod forbidden_code;
mod function_length;
mod guides;
mod layering;
mod licences;
mod links;
mod lock_sources;
mod machine_paths;
mod module_docs;
mod quoted_programs;
mod revision_names;
mod source;

use std::fmt;

use crate::{Failure, cargo, expect_no_arguments};
pub use files::Tree;
pub use guides::SUMMARY;
use layering::CrateRoot;
pub use links::{resolve as resolve_link, split_anchor};
use source::Source;

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    path: String,
    line: usize,
    message: String,
    remedy: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            message,
            remedy,
        } = self;
        write!(f, "{path}:{line}: {message} ({remedy})")
    }
}

/// Checks every rule and prints every violation.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments(arguments)?;
    let tree = Tree::read(&cargo::root())?;
    let mut violations = check_sources(&tree);
    violations.extend(check_documents(&tree));
    violations.extend(dependencies::check(&dependencies::tree()?));
    let packages = dependency_tree::read()?;
    violations.extend(licences::check(&packages));
    violations.extend(duplicate_versions::check(&packages));
    violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for violation in &violations {
        eprintln!("{violation}");
    }
    match violations.len() {
        0 => {
            eprintln!("tidy: {} files, no violations", tree.paths().len());
            Ok(())
        }
        1 => Err("1 violation, see above".into()),
        count => Err(format!("{count} violations, see above")),
    }
}

/// The rules about Rust sources.
fn check_sources(tree: &Tree) -> Vec<Violation> {
    let roots: Vec<CrateRoot> = layering::CRATES
        .iter()
        .map(|layers| {
            let text = tree.text(&layers.root_path()).unwrap_or_default();
            CrateRoot::parse(layers, text)
        })
        .collect();
    let mut violations: Vec<Violation> = roots.iter().flat_map(CrateRoot::check).collect();
    for (path, text) in tree.files_ending(".rs") {
        let source = Source::new(path, text);
        violations.extend(module_docs::check(&source));
        violations.extend(file_length::check(&source));
        violations.extend(function_length::check(&source));
        violations.extend(forbidden_code::check(&source));
        violations.extend(revision_names::check(&source));
        violations.extend(roots.iter().flat_map(|root| root.check_file(&source)));
    }
    violations
}

/// The rules about all other files.
fn check_documents(tree: &Tree) -> Vec<Violation> {
    let mut violations = decision_records::check(&tree.paths(), tree.text(decision_records::INDEX));
    violations.extend(guides::check(&tree.paths(), tree.text(guides::SUMMARY)));
    violations.extend(quoted_programs::check(tree));
    for (path, text) in tree.files_ending(".md") {
        violations.extend(links::check(path, text, tree));
    }
    for (path, text) in tree.files_ending("") {
        violations.extend(machine_paths::check(path, text));
        violations.extend(lock_sources::check(path, text));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_the_place_and_the_remedy() {
        let violation = Violation {
            path: "a/b.rs".into(),
            line: 3,
            message: "too long".into(),
            remedy: "split it",
        };
        assert_eq!(violation.to_string(), "a/b.rs:3: too long (split it)");
    }
}
