//! `cargo xtask bench`: what things cost, beside others.
//!
//! - `bench [--quick] [--anyway] [group…]` measures, on a quiet machine, and
//!   writes `bench/RESULTS.md`, `bench/results` and the comparison in README.
//! - `bench command [--quick]` does it for the command, from a shell.
//! - `bench core [--record]` counts what the core paths cost, and fails if that
//!   grew by more than a twentieth.
//! - `bench report` writes the tables anew from the results that are kept.
//! - `bench check` is what `test` does of this: the harness's own tests, `core`,
//!   and whether the tables say what was measured. Counts are the same whatever
//!   else the machine does.

mod command;

use crate::{Failure, cargo, no_arguments};

/// The harness, and the paths whose instructions are counted: nothing of
/// others.
const CORE: &[&str] = &["-p", "bowline-bench", "-p", "bowline-bench-core"];

/// What can be asked for.
pub const DETAILS: &[&str] = &[
    "bench [--quick] [--anyway] [group…]  measures, and writes bench/RESULTS.md and README",
    "bench command [--quick]              the same for the command, from a shell",
    "bench core [--record]                counts what the core paths cost",
    "bench report                         writes the tables anew from what is kept",
    "bench check                          what `test` does of this",
];

/// Measures what is asked for.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (first, rest) = match arguments.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("", arguments),
    };
    match first {
        "command" => command::run(rest),
        "check" => check(rest),
        "core" => {
            known_flags(rest, &["--record"])?;
            build(CORE)?;
            harness(arguments)
        }
        "report" => {
            known_flags(rest, &["--check"])?;
            build(&CORE[..2])?;
            harness(arguments)
        }
        _ => {
            known_flags(arguments, &["--quick", "--anyway"])?;
            build(&["--workspace"])?;
            harness(arguments)
        }
    }
}

/// Refuses what the harness would refuse, too, but only when it is built, which
/// takes minutes.
fn known_flags(arguments: &[String], known: &[&str]) -> Result<(), Failure> {
    let is_unknown =
        |argument: &&String| argument.starts_with('-') && !known.contains(&argument.as_str());
    match arguments.iter().find(is_unknown) {
        Some(unknown) => Err(format!(
            "`{unknown}` is unknown; there is {} (see `cargo xtask bench --help`)",
            known.join(" and ")
        )),
        None => Ok(()),
    }
}

/// What `test` looks at: the harness's own tests, whether the core paths cost
/// what is recorded, and whether the tables say what was measured.
pub fn check(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    step(&["fmt", "--all", "--check"], &[])?;
    step(
        &["clippy", "--locked", "--all-targets"],
        &[CORE, &["--", "-D", "warnings"]].concat(),
    )?;
    step(&["test", "--locked", "-p", "bowline-bench"], &[])?;
    build(CORE)?;
    for arguments in [["core"].as_slice(), &["report", "--check"]] {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        harness(&arguments)?;
    }
    Ok(())
}

fn build(what: &[&str]) -> Result<(), Failure> {
    step(&["build", "--release", "--locked"], what)
}

/// Runs the harness, which was built before.
fn harness(arguments: &[String]) -> Result<(), Failure> {
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
    step(&run, &arguments)
}

fn step(verb: &[&str], arguments: &[&str]) -> Result<(), Failure> {
    let status = cargo::cargo()
        .current_dir(cargo::root().join("bench"))
        .args(verb)
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`cargo {}` failed in bench/ ({status})", verb[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_flags_are_refused_before_anything_is_built() {
        for arguments in [
            &["--bogus"][..],
            &["--quick", "-x"],
            &["calls", "--quik"],
            &["core", "--bogus"],
            &["report", "--record"],
            &["command", "--bogus"],
            &["check", "--bogus"],
        ] {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let refused = run(&arguments).expect_err("it is unknown");
            assert!(!refused.contains("failed in bench/"), "{refused}");
        }
        let known = ["--quick", "calls", "--anyway"].map(str::to_owned);
        assert_eq!(known_flags(&known, &["--quick", "--anyway"]), Ok(()));
    }
}
