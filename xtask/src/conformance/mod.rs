//! `cargo xtask conformance`: runs the official suite against our server and client.
//!
//! The suite is installed in `target/conformance`, in the version that the lock
//! file in `conformance/` pins, with a Node.js that is new enough for it. The
//! program `conformance-suite` decides what is run and what counts as passing.

use crate::{Failure, cargo, installation::Installation, process};

/// The files in `target/conformance` that the program needs.
const REQUIRED_FILES: &[&str] = &[
    "node/node_modules/.bin/node",
    "node/node_modules/@modelcontextprotocol/conformance/dist/index.js",
];

/// The options, for the help.
pub const DETAILS: &[&str] = &[
    "--leg server|client              runs only this leg",
    "--set 2025-11-25|2026-07-28|all  runs only this set",
    "--scenario NAME                  runs only this scenario",
    "--url URL                        tests this server instead of ours",
];

/// Installs the suite if necessary, builds our server and client, and runs the
/// suite. Arguments are passed to `conformance-suite`.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if suite().ensure(Installation::install_node)? {
        eprintln!("conformance: installed the suite");
    }
    // `conformance-suite` starts the other programs, so they are built first.
    run_cargo(&["build", "--bins"], &[])?;
    run_cargo(&["run", "--bin", "conformance-suite", "--"], arguments)
}

fn suite() -> Installation {
    Installation {
        lock_folder: cargo::root().join("conformance"),
        lock_files: &["package.json", "package-lock.json"],
        folder: cargo::root().join("target").join("conformance"),
        required_files: REQUIRED_FILES,
    }
}

fn run_cargo(subcommand: &[&str], arguments: &[String]) -> Result<(), Failure> {
    let mut command = cargo::cargo();
    command.args([subcommand[0], "--quiet", "--package", "bowline-conformance"]);
    command.args(&subcommand[1..]).args(arguments);
    process::run(command, "see above")
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
