//! `cargo xtask test`: all checks that must pass before a commit.
//!
//! The cheap steps run first, and the first failure ends the run: further
//! failures are rarely worth reading.

use std::time::{Duration, Instant};

use crate::{
    Failure, bench, cargo, conformance, features, packages, peers, process, requirements, tidy,
};

struct Step {
    name: &'static str,
    /// Whether `--core` runs it, because it needs nothing but Rust.
    core: bool,
    action: Action,
}

enum Action {
    Cargo {
        environment: &'static [(&'static str, &'static str)],
        arguments: &'static [&'static str],
    },
    /// Another command of xtask.
    Xtask {
        name: &'static str,
        run: fn(&[String]) -> Result<(), Failure>,
    },
}

/// The cargo subcommands that are toolchain components, with their component's name.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Property tests use the same random cases in every run, so a failure is caused
/// by the change under test. To try other cases, run this step alone with
/// another seed.
const SEED: &[(&str, &str)] = &[("PROPTEST_RNG_SEED", "20260728")];

const STEPS: &[Step] = &[
    Step {
        name: "format",
        core: true,
        action: Action::Cargo {
            environment: &[],
            arguments: &["fmt", "--all", "--check"],
        },
    },
    Step {
        name: "tidy",
        core: true,
        action: Action::Xtask {
            name: "tidy",
            run: tidy::run,
        },
    },
    Step {
        name: "lints",
        core: true,
        action: Action::Cargo {
            environment: &[],
            arguments: &[
                "clippy",
                "--workspace",
                "--all-features",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
        },
    },
    Step {
        name: "fuzz targets",
        core: true,
        action: Action::Cargo {
            environment: &[],
            arguments: &[
                "check",
                "--quiet",
                "--locked",
                "--manifest-path",
                "crates/bowline-proto/fuzz/Cargo.toml",
                "--target-dir",
                "target",
            ],
        },
    },
    Step {
        name: "features",
        core: true,
        action: Action::Xtask {
            name: "features",
            run: features::run,
        },
    },
    Step {
        name: "docs",
        core: true,
        action: Action::Cargo {
            environment: &[("RUSTDOCFLAGS", "-D warnings")],
            arguments: &[
                "doc",
                "--workspace",
                "--all-features",
                "--no-deps",
                "--document-private-items",
            ],
        },
    },
    Step {
        name: "packages",
        core: true,
        action: Action::Xtask {
            name: "packages",
            run: packages::run,
        },
    },
    Step {
        name: "guides",
        core: true,
        action: Action::Cargo {
            environment: &[],
            // The guide that compares Bowline with rmcp: nothing else depends on rmcp.
            arguments: &[
                "check",
                "--locked",
                "--manifest-path",
                "docs/guides/rmcp/Cargo.toml",
                "--target-dir",
                "target/guides",
            ],
        },
    },
    Step {
        name: "peers",
        core: false,
        action: Action::Xtask {
            name: "peers",
            run: peers::run,
        },
    },
    Step {
        name: "tests",
        core: false,
        action: Action::Cargo {
            environment: SEED,
            arguments: &["test", "--workspace", "--all-features"],
        },
    },
    Step {
        name: "conformance",
        core: false,
        action: Action::Xtask {
            name: "conformance",
            run: conformance::run,
        },
    },
    Step {
        name: "bench",
        core: false,
        action: Action::Xtask {
            name: "bench check",
            run: bench::check,
        },
    },
];

/// The step that `--core` runs instead of `tests`: the tests that need no
/// third-party programs.
const CORE_TESTS: Step = Step {
    name: "tests",
    core: true,
    action: Action::Cargo {
        environment: SEED,
        arguments: &[
            "test",
            "--workspace",
            "--all-features",
            "--",
            "--skip",
            "clients::",
            "--skip",
            "interop::",
            "--skip",
            "peers::",
        ],
    },
};

/// Runs every step in order and stops at the first that fails.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let core = match arguments {
        [] => false,
        [core] if core == "--core" => true,
        _ => return Err("the only argument is `--core`".to_owned()),
    };
    for (subcommand, component) in COMPONENTS {
        if !cargo::has_subcommand(subcommand) {
            return Err(format!(
                "`cargo {subcommand}` is not installed; install it with `rustup component add {component}`"
            ));
        }
    }
    if !core {
        requirements::ensure()?;
    }
    let mut timings = Vec::new();
    for step in steps(core) {
        eprintln!("==> {}: {}", step.name, step.command_line());
        let start = Instant::now();
        step.run().map_err(|failure| {
            format!(
                "step `{}` failed: {failure}\n  to run only this step: {}",
                step.name,
                step.command_line()
            )
        })?;
        let elapsed = start.elapsed();
        eprintln!("    {} ok, {}", step.name, seconds(elapsed));
        timings.push((step.name, elapsed));
    }
    eprintln!("{}", summary(&mut timings));
    Ok(())
}

fn steps(core: bool) -> impl Iterator<Item = &'static Step> {
    let core_tests = core.then_some(&CORE_TESTS);
    let selected = STEPS.iter().filter(move |step| step.core || !core);
    selected.chain(core_tests)
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        match self.action {
            Action::Xtask { run, .. } => run(&[]),
            Action::Cargo {
                environment,
                arguments,
            } => {
                let mut command = cargo::cargo();
                command.envs(environment.iter().copied()).args(arguments);
                process::run(command, "see above")
            }
        }
    }

    /// The step as a command line for the shell.
    fn command_line(&self) -> String {
        match self.action {
            Action::Xtask { name, .. } => format!("cargo xtask {name}"),
            Action::Cargo {
                environment,
                arguments,
            } => {
                let mut words: Vec<String> = environment
                    .iter()
                    .map(|(name, value)| format!("{name}=\"{value}\""))
                    .collect();
                words.push("cargo".into());
                words.extend(arguments.iter().map(ToString::to_string));
                words.join(" ")
            }
        }
    }
}

/// The total time, and the time of each step, the slowest first.
fn summary(timings: &mut [(&str, Duration)]) -> String {
    let total: Duration = timings.iter().map(|(_, elapsed)| *elapsed).sum();
    timings.sort_by_key(|(_, elapsed)| std::cmp::Reverse(*elapsed));
    let steps: Vec<String> = timings
        .iter()
        .map(|(name, elapsed)| format!("{name} {}", seconds(*elapsed)))
        .collect();
    format!(
        "==> all steps passed in {} ({})",
        seconds(total),
        steps.join(", ")
    )
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_command_line() {
        let lines: Vec<String> = STEPS.iter().map(Step::command_line).collect();
        assert_eq!(
            lines,
            [
                "cargo fmt --all --check",
                "cargo xtask tidy",
                "cargo clippy --workspace --all-features --all-targets -- -D warnings",
                "cargo check --quiet --locked --manifest-path crates/bowline-proto/fuzz/Cargo.toml --target-dir target",
                "cargo xtask features",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --all-features --no-deps --document-private-items",
                "cargo xtask packages",
                "cargo check --locked --manifest-path docs/guides/rmcp/Cargo.toml --target-dir target/guides",
                "cargo xtask peers",
                "PROPTEST_RNG_SEED=\"20260728\" cargo test --workspace --all-features",
                "cargo xtask conformance",
                "cargo xtask bench check",
            ]
        );
    }

    #[test]
    fn the_core_steps_need_nothing_but_rust() {
        let core: Vec<&str> = steps(true).map(|step| step.name).collect();
        assert_eq!(
            core,
            [
                "format",
                "tidy",
                "lints",
                "fuzz targets",
                "features",
                "docs",
                "packages",
                "guides",
                "tests"
            ]
        );
        assert_eq!(steps(false).count(), STEPS.len());
    }

    #[test]
    fn the_summary_adds_up_and_begins_with_the_slowest() {
        let mut timings = [
            ("format", Duration::from_millis(1_000)),
            ("lints", Duration::from_millis(2_500)),
        ];
        assert_eq!(
            summary(&mut timings),
            "==> all steps passed in 3.5 s (lints 2.5 s, format 1.0 s)"
        );
    }
}
