//! `cargo xtask fuzz [target] [seconds]`: runs the fuzz targets of bowline-proto.
//!
//! Not part of `test`: it needs cargo-fuzz, and a minute of fuzzing proves
//! nothing that a commit should wait for.

use std::path::PathBuf;

use crate::{Failure, cargo};

const DEFAULT_SECONDS: u32 = 60;

/// Runs one target or all of them, one after the other.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    if !package_folder().join("fuzz").is_dir() {
        return Err("crates/bowline-proto/fuzz does not exist".into());
    }
    if !cargo::has_subcommand("fuzz") {
        return Err(
            "cargo-fuzz is not installed; install it with `cargo install cargo-fuzz --locked`"
                .into(),
        );
    }
    let known = targets()?;
    let chosen = match options.target {
        None => known,
        Some(target) if known.contains(&target) => vec![target],
        Some(target) => {
            return Err(format!(
                "unknown fuzz target `{target}`; the targets are: {}",
                known.join(", ")
            ));
        }
    };
    for target in &chosen {
        eprintln!("==> {target}: {} s", options.seconds);
        fuzz(target, options.seconds)?;
    }
    eprintln!("==> {} target(s), no failures", chosen.len());
    Ok(())
}

/// The command-line options.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    target: Option<String>,
    seconds: u32,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let (target, seconds) = match arguments {
            [] => (None, None),
            // A single number is a duration: no target has a number as its name.
            [only] => match only.parse() {
                Ok(seconds) => (None, Some(seconds)),
                Err(_) => (Some(only), None),
            },
            [target, seconds] => {
                let seconds = seconds
                    .parse()
                    .map_err(|_| format!("`{seconds}` is not a number of seconds"))?;
                (Some(target), Some(seconds))
            }
            _ => {
                return Err(
                    "the arguments are a target and a number of seconds, both optional".into(),
                );
            }
        };
        Ok(Self {
            target: target.cloned(),
            seconds: seconds.unwrap_or(DEFAULT_SECONDS),
        })
    }
}

/// cargo-fuzz looks for `fuzz/` in the package it is started in.
fn package_folder() -> PathBuf {
    cargo::root().join("crates/bowline-proto")
}

fn targets() -> Result<Vec<String>, Failure> {
    let output = cargo::cargo()
        .current_dir(package_folder())
        .args(["fuzz", "list"])
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`cargo fuzz list` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

fn fuzz(target: &str, seconds: u32) -> Result<(), Failure> {
    let limit = format!("-max_total_time={seconds}");
    let status = cargo::cargo()
        .current_dir(package_folder())
        // libFuzzer is guided by coverage, which needs compiler flags that stable
        // rustc rejects. Bootstrap mode makes it accept them, so no nightly is
        // needed. Only this process gets the variable.
        .env("RUSTC_BOOTSTRAP", "1")
        // No sanitizer: the code is safe Rust, and the address sanitizer needs a
        // nightly standard library.
        .args(["fuzz", "run", target, "-s", "none", "--", &limit])
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!(
            "target `{target}` failed ({status}); the input is in crates/bowline-proto/fuzz/artifacts/{target}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], target: Option<&str>, seconds: u32) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let expected = Options {
            target: target.map(str::to_owned),
            seconds,
        };
        assert_eq!(Options::parse(&arguments), Ok(expected));
    }

    #[test]
    fn arguments_are_optional() {
        check(&[], None, 60);
        check(&["5"], None, 5);
        check(&["envelope"], Some("envelope"), 60);
        check(&["envelope", "5"], Some("envelope"), 5);
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        assert!(Options::parse(&["envelope".into(), "long".into()]).is_err());
        assert!(Options::parse(&["a".into(), "1".into(), "b".into()]).is_err());
    }
}
