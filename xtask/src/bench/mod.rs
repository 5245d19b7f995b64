//! `cargo xtask bench [command] [--quick]`: what things cost, beside others.
//!
//! Not part of `test`: its figures mean something on a quiet machine only, and
//! it builds the clients of others.

mod command;

use crate::{Failure, cargo};

/// Measures the command, if that is asked for, or else the library.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first() {
        Some((first, rest)) if first == "command" => command::run(rest),
        _ => library(arguments),
    }
}

/// Builds everything in `bench/`, then measures. Arguments are passed on.
fn library(arguments: &[String]) -> Result<(), Failure> {
    // The program that measures starts the others, so they must be there.
    step(&["build", "--release", "--locked", "--bins"], &[])?;
    step(&["run", "--release", "--locked", "--"], arguments)
}

fn step(verb: &[&str], arguments: &[String]) -> Result<(), Failure> {
    let status = cargo::cargo()
        .current_dir(cargo::root().join("bench"))
        .args(verb)
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`cargo {}` failed ({status})", verb[0]))
    }
}
