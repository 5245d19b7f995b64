//! `cargo xtask fuzz [target] [seconds]`: the fuzz targets of bowline-proto.
//!
//! Not part of `test`, because it needs a tool that a fresh machine lacks and
//! because a minute of fuzzing proves nothing that a commit should wait for.

use std::path::PathBuf;

use crate::{Failure, cargo};

const DEFAULT_SECONDS: u32 = 60;

/// Fuzzes one target or all of them, one after the other.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let plan = Plan::read(arguments)?;
    if !folder().join("fuzz").is_dir() {
        return Err("crates/bowline-proto/fuzz does not exist, so there is nothing to run".into());
    }
    if !cargo::has("fuzz") {
        return Err(
            "cargo-fuzz is missing; get it with `cargo install cargo-fuzz --locked`".into(),
        );
    }
    let known = targets()?;
    let chosen = match plan.target {
        None => known,
        Some(target) if known.contains(&target) => vec![target],
        Some(target) => {
            return Err(format!(
                "there is no target `{target}`, only: {}",
                known.join(", ")
            ));
        }
    };
    for target in &chosen {
        eprintln!("==> {target}: {} s", plan.seconds);
        fuzz(target, plan.seconds)?;
    }
    eprintln!("==> {} target(s), no failure found", chosen.len());
    Ok(())
}

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    target: Option<String>,
    seconds: u32,
}

impl Plan {
    fn read(arguments: &[String]) -> Result<Self, Failure> {
        let (target, seconds) = match arguments {
            [] => (None, None),
            // A lone number is a time for all targets: no target has a number for a name.
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
            _ => return Err("takes at most a target and a number of seconds".into()),
        };
        Ok(Self {
            target: target.cloned(),
            seconds: seconds.unwrap_or(DEFAULT_SECONDS),
        })
    }
}

/// cargo-fuzz looks for `fuzz/` below the package that it is started in.
fn folder() -> PathBuf {
    cargo::root().join("crates/bowline-proto")
}

fn targets() -> Result<Vec<String>, Failure> {
    let output = cargo::cargo()
        .current_dir(folder())
        .args(["fuzz", "list"])
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
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
        .current_dir(folder())
        // libFuzzer finds its way by coverage, which takes compiler flags that
        // stable rustc refuses. Bootstrap mode makes stable accept them, so
        // nobody has to keep a nightly. Set for this one child, never wider.
        .env("RUSTC_BOOTSTRAP", "1")
        // No sanitizer: the code is safe Rust, and the address sanitizer would
        // want a nightly standard library.
        .args(["fuzz", "run", target, "-s", "none", "--", &limit])
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!(
            "target `{target}` failed ({status}); the input is under crates/bowline-proto/fuzz/artifacts/{target}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], target: Option<&str>, seconds: u32) {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let expected = Plan {
            target: target.map(str::to_owned),
            seconds,
        };
        assert_eq!(Plan::read(&arguments), Ok(expected));
    }

    #[test]
    fn arguments_are_optional() {
        check(&[], None, 60);
        check(&["5"], None, 5);
        check(&["envelope"], Some("envelope"), 60);
        check(&["envelope", "5"], Some("envelope"), 5);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Plan::read(&["envelope".into(), "long".into()]).is_err());
        assert!(Plan::read(&["a".into(), "1".into(), "b".into()]).is_err());
    }
}
