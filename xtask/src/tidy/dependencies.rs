//! Rule: the protocol core has few dependencies, and none that does I/O.
//!
//! `cargo test -p bowline-proto` is how the protocol is developed, so it must
//! never compile a runtime. And code that is not a dependency cannot be called: no
//! runtime, no sockets, no randomness, no global logger.

use std::collections::BTreeSet;

use super::Violation;
use crate::{Failure, cargo};

const MANIFEST: &str = "crates/bowline-proto/Cargo.toml";
/// The dependency tree, including bowline-proto, has fewer crates than this.
const CRATE_LIMIT: usize = 20;
/// Crates that are forbidden in the core, with all crates of the same prefix.
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

/// The dependencies of bowline-proto, without build and test dependencies.
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
                "code that needs it belongs in the bowline crate; `cargo tree -i` shows which crate depends on it",
            )
        })
        .collect();
    if crates.len() >= CRATE_LIMIT {
        violations.push(violation(
            format!(
                "the dependency tree has {} crates; fewer than {CRATE_LIMIT} are allowed",
                crates.len()
            ),
            "remove the newest dependency, or disable its default features",
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
    fn a_small_tree_passes() {
        let tree =
            "bowline-proto v0.1.0 (somewhere)\nbase64 v0.22.1\nmemchr v2.8.3\nmemchr v2.8.3 (*)\n";
        assert_eq!(check(tree), []);
    }

    #[test]
    fn forbidden_prefixes_are_found() {
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
    fn the_number_of_crates_is_limited() {
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
