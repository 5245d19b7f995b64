//! Rule: the guide "Coming from rmcp" quotes its programs in full.
//!
//! Doc tests cannot compile the guide, because nothing here depends on rmcp.
//! `cargo xtask test` compiles the programs; this rule makes the guide show them.

use super::{Tree, Violation};

const GUIDE: &str = "docs/guides/coming-from-rmcp.md";
const PROGRAMS: &str = "docs/guides/rmcp/src/bin/";

/// Checks that each program is a block of the guide, and each block a program.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let guide = tree.text(GUIDE).unwrap_or_default();
    let programs: Vec<(&str, &str)> = tree
        .files_ending(".rs")
        .filter(|(path, _)| path.starts_with(PROGRAMS))
        .collect();
    let mut violations: Vec<Violation> = programs
        .iter()
        .filter(|(_, text)| !guide.contains(&format!("```rust\n{text}```\n")))
        .map(|(path, _)| violation(format!("`{path}` is not quoted in full")))
        .collect();
    let blocks = guide.matches("```rust").count();
    if violations.is_empty() && blocks != programs.len() {
        violations.push(violation(format!(
            "{blocks} blocks of Rust for {} programs",
            programs.len()
        )));
    }
    violations
}

fn violation(message: String) -> Violation {
    Violation {
        path: GUIDE.into(),
        line: 1,
        message,
        remedy: "quote each file of docs/guides/rmcp/src/bin once, and nothing else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_guide(guide: &str, messages: &[&str]) {
        let program = ("docs/guides/rmcp/src/bin/a.rs", "fn main() {}\n");
        let tree = Tree::from_texts(&[(GUIDE, guide), program]);
        let found = check(&tree);
        let found: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(found, messages, "{guide}");
    }

    #[test]
    fn every_program_is_quoted_in_full() {
        check_guide("```rust\nfn main() {}\n```\n", &[]);
        check_guide(
            "```rust\nfn main() { }\n```\n",
            &["`docs/guides/rmcp/src/bin/a.rs` is not quoted in full"],
        );
    }

    #[test]
    fn every_block_is_a_program() {
        check_guide(
            "```rust\nfn main() {}\n```\n\n```rust\nother();\n```\n",
            &["2 blocks of Rust for 1 programs"],
        );
    }
}
