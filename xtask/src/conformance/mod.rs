//! `cargo xtask conformance`: the official suite against our server and client.
//!
//! The suite is installed below `target/conformance`, from the versions that
//! the lock file in `conformance/` pins, with a Node.js that is new enough for
//! it. What is run, and what counts as passing, is decided by the program
//! `conformance-suite` there.

use crate::{
    Failure, cargo,
    installation::{Installation, succeed},
};

/// What the program needs, below `target/conformance`.
const PARTS: &[&str] = &[
    "node/node_modules/.bin/node",
    "node/node_modules/@modelcontextprotocol/conformance/dist/index.js",
];

/// What can be asked for.
pub const DETAILS: &[&str] = &[
    "--leg server|client              only this leg",
    "--set 2025-11-25|2026-07-28|all  only this set",
    "--scenario NAME                  only this scenario",
    "--url URL                        another server than ours",
];

/// Installs the suite if it is not there, builds the fixtures, and runs them.
/// Arguments are passed on.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if suite().complete(Installation::install_node)? {
        eprintln!("conformance: the suite is installed");
    }
    // The program starts the others, so they must be there.
    step(&["build", "--bins"], &[])?;
    step(&["run", "--bin", "conformance-suite", "--"], arguments)
}

fn suite() -> Installation {
    Installation {
        locks: cargo::root().join("conformance"),
        files: &["package.json", "package-lock.json"],
        home: cargo::root().join("target").join("conformance"),
        parts: PARTS,
    }
}

fn step(verb: &[&str], arguments: &[String]) -> Result<(), Failure> {
    let mut command = cargo::cargo();
    command.args([verb[0], "--quiet", "--package", "bowline-conformance"]);
    command.args(&verb[1..]).args(arguments);
    succeed(command, "see above")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installation::assert_pinned;

    #[test]
    fn every_version_is_pinned() {
        assert_pinned(&suite());
    }
}
