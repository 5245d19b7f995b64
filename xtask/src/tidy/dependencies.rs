//! Rule: the protocol core stays light and without I/O.
//!
//! `cargo test -p bowline-proto` is the loop in which the protocol is worked
//! on; it must never compile a runtime. And what is not in the tree cannot be
//! called: no runtime, no sockets, no randomness, no global logger.

use std::collections::BTreeSet;

use super::Violation;
use crate::{Failure, cargo};

const MANIFEST: &str = "crates/bowline-proto/Cargo.toml";
/// The tree, bowline-proto itself included, has fewer crates than this.
const LIMIT: usize = 20;
/// Crates, and families of crates, that have no business in the core.
const FORBIDDEN: &[&str] = &[
    "futures",
    "getrandom",
    "http",
    "hyper",
    "mio",
    "rand",
    "reqwest",
    "tokio",
    "tracing",
];

/// The normal dependencies of bowline-proto, as cargo prints them.
pub fn tree() -> Result<String, Failure> {
    cargo::tree(&["-p", "bowline-proto", "-e", "normal"])
}

pub fn check(tree: &str) -> Vec<Violation> {
    // Two versions of one crate are two crates.
    let crates: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next().unwrap_or_default()))
        })
        .collect();
    let violation = |message, remedy| Violation {
        path: MANIFEST.into(),
        line: 1,
        message,
        remedy,
    };
    let mut violations: Vec<Violation> = crates
        .iter()
        .filter(|(name, _)| is_forbidden(name))
        .map(|(name, _)| {
            violation(
                format!("`{name}` is in the dependency tree"),
                "what does I/O belongs in the bowline crate; `cargo tree -i` says who asked for it",
            )
        })
        .collect();
    if crates.len() >= LIMIT {
        violations.push(violation(
            format!(
                "the dependency tree has {} crates, not under {LIMIT}",
                crates.len()
            ),
            "do without the newest one, or turn its default features off",
        ));
    }
    violations
}

fn is_forbidden(name: &str) -> bool {
    FORBIDDEN.iter().any(|family| {
        name.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_light_tree_passes() {
        let tree =
            "bowline-proto v0.1.0 (somewhere)\nbase64 v0.22.1\nmemchr v2.8.3\nmemchr v2.8.3 (*)\n";
        assert_eq!(check(tree), []);
    }

    #[test]
    fn families_are_refused() {
        for name in [
            "tokio",
            "tokio-util",
            "futures-core",
            "rand_core",
            "http",
            "tracing",
        ] {
            let found = check(&format!("bowline-proto v0.1.0\n{name} v1.0.0\n"));
            assert_eq!(found.len(), 1, "{name}");
        }
        assert_eq!(check("httparse v1.0.0\nrandomish v1.0.0\n"), []);
    }

    #[test]
    fn the_tree_stays_small() {
        let tree = |count| {
            (0..count)
                .map(|n| format!("crate{n} v1.0.0\n"))
                .collect::<String>()
        };
        assert_eq!(check(&tree(19)), []);
        assert_eq!(check(&tree(20)).len(), 1);
        assert_eq!(
            check(&tree(10).repeat(2)),
            [],
            "the same crate twice is one"
        );
    }
}
