//! `cargo xtask bench`: measures performance, and compares it with rmcp and others.
//!
//! - `bench [--quick] [--anyway] [group…]` measures, on an idle machine, and
//!   writes `bench/RESULTS.md`, `bench/results` and the comparison in README.
//! - `bench command [--quick]` measures the command line tool.
//! - `bench core [--record]` counts the instructions of the core paths, and fails
//!   if one grew by more than 5 %.
//! - `bench report` writes the tables again from the stored results.
//! - `bench check` is the part that `test` runs: the harness's own tests, `core`,
//!   and whether the tables match the stored results. `bench build` builds what
//!   it needs. Instruction counts depend on the load of the machine only if that
//!   is heavy: a tool that seems slow gets a task of its own.

mod command;

use crate::{Failure, cargo, expect_no_arguments};

/// The packages of the harness and of the core paths. Building them does not
/// build the third-party implementations.
const CORE: &[&str] = &["-p", "bowline-bench", "-p", "bowline-bench-core"];

/// The servers with stores. Built by itself: in one build with the others, what it
/// enables in `bowline` would be enabled for them, too.
const STORES: &str = "bowline-bench-stores";

/// The subcommands, for the help.
pub const DETAILS: &[&str] = &[
    "bench [--quick] [--anyway] [group…]  measures, and writes bench/RESULTS.md and README",
    "bench command [--quick]              measures the command line tool",
    "bench core [--record]                counts the instructions of the core paths",
    "bench report                         writes the tables again from the stored results",
    "bench build                          builds the part that `test` runs",
    "bench check                          runs the part that `test` runs",
];

/// Runs a subcommand, or measures everything.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (first, rest) = match arguments.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("", arguments),
    };
    match first {
        "command" => command::run(rest),
        "build" => build_core(rest),
        "check" => check(rest),
        "core" => {
            check_flags(rest, &["--record"])?;
            build(CORE)?;
            run_harness(arguments)
        }
        "report" => {
            check_flags(rest, &["--check"])?;
            build(&CORE[..2])?;
            run_harness(arguments)
        }
        _ => {
            check_flags(arguments, &["--quick", "--anyway"])?;
            build(&["--workspace", "--exclude", STORES])?;
            build(&["-p", STORES])?;
            run_harness(arguments)
        }
    }
}

/// Rejects unknown flags. The harness does too, but only after it was built,
/// which takes minutes.
fn check_flags(arguments: &[String], known: &[&str]) -> Result<(), Failure> {
    let is_unknown =
        |argument: &&String| argument.starts_with('-') && !known.contains(&argument.as_str());
    match arguments.iter().find(is_unknown) {
        Some(unknown) => Err(format!(
            "unknown flag `{unknown}`; the flags are {} (see `cargo xtask bench --help`)",
            known.join(", ")
        )),
        None => Ok(()),
    }
}

/// Builds what [`check`] runs, and checks it.
pub fn build_core(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments(arguments)?;
    run_cargo(&["fmt", "--all", "--check"], &[])?;
    build(CORE)?;
    // The other steps have compiled most dependencies in this folder.
    let shared = ["--target-dir", "../target"];
    run_cargo(
        &["clippy", "--locked", "--all-targets"],
        &[CORE, &shared, &["--", "-D", "warnings"]].concat(),
    )?;
    run_cargo(&["test", "--locked", "-p", "bowline-bench"], &shared)
}

/// Runs the part that `test` runs: the harness's own tests, the instruction
/// counts of the core paths, and whether the tables match the stored results.
pub fn check(arguments: &[String]) -> Result<(), Failure> {
    build_core(arguments)?;
    for arguments in [["core"].as_slice(), &["report", "--check"]] {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        run_harness(&arguments)?;
    }
    Ok(())
}

fn build(packages: &[&str]) -> Result<(), Failure> {
    run_cargo(&["build", "--release", "--locked"], packages)
}

/// Runs the harness, which must have been built.
fn run_harness(arguments: &[String]) -> Result<(), Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = [
        "run",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "bowline-bench",
        "--",
    ];
    run_cargo(&run, &arguments)
}

fn run_cargo(subcommand: &[&str], arguments: &[&str]) -> Result<(), Failure> {
    let status = cargo::cargo()
        .current_dir(cargo::root().join("bench"))
        .args(subcommand)
        .args(arguments)
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!(
            "`cargo {}` failed in bench/ ({status})",
            subcommand[0]
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_flags_are_rejected_before_anything_is_built() {
        for arguments in [
            &["--bogus"][..],
            &["--quick", "-x"],
            &["calls", "--quik"],
            &["core", "--bogus"],
            &["report", "--record"],
            &["command", "--bogus"],
            &["build", "--bogus"],
            &["check", "--bogus"],
        ] {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let failure = run(&arguments).expect_err("the flag is unknown");
            assert!(!failure.contains("failed in bench/"), "{failure}");
        }
        let known = ["--quick", "calls", "--anyway"].map(str::to_owned);
        assert_eq!(check_flags(&known, &["--quick", "--anyway"]), Ok(()));
    }
}
