//! `cargo xtask test`: everything that must hold before a commit.
//!
//! The steps go from cheap to dear, and the first failure ends the run: what
//! comes after it is rarely worth reading.

use std::time::{Duration, Instant};

use crate::{
    Failure, bench, cargo, conformance, features, installation::succeed, packages, peers,
    requirements, tidy,
};

struct Step {
    name: &'static str,
    /// Whether it needs nothing but Rust, so `--core` runs it.
    core: bool,
    work: Work,
}

enum Work {
    Cargo {
        environment: &'static [(&'static str, &'static str)],
        arguments: &'static [&'static str],
    },
    /// Another verb.
    Verb {
        name: &'static str,
        run: fn(&[String]) -> Result<(), Failure>,
    },
}

/// Components of the toolchain that may be missing.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// The same random cases every time: a change is judged by what it changes. To
/// look for more, set another seed and run this step alone.
const SEED: &[(&str, &str)] = &[("PROPTEST_RNG_SEED", "20260728")];

const STEPS: &[Step] = &[
    Step {
        name: "format",
        core: true,
        work: Work::Cargo {
            environment: &[],
            arguments: &["fmt", "--all", "--check"],
        },
    },
    Step {
        name: "tidy",
        core: true,
        work: Work::Verb {
            name: "tidy",
            run: tidy::run,
        },
    },
    Step {
        name: "lints",
        core: true,
        work: Work::Cargo {
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
        name: "features",
        core: true,
        work: Work::Verb {
            name: "features",
            run: features::run,
        },
    },
    Step {
        name: "docs",
        core: true,
        work: Work::Cargo {
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
        work: Work::Verb {
            name: "packages",
            run: packages::run,
        },
    },
    Step {
        name: "peers",
        core: false,
        work: Work::Verb {
            name: "peers",
            run: peers::run,
        },
    },
    Step {
        name: "tests",
        core: false,
        work: Work::Cargo {
            environment: SEED,
            arguments: &["test", "--workspace", "--all-features"],
        },
    },
    Step {
        name: "conformance",
        core: false,
        work: Work::Verb {
            name: "conformance",
            run: conformance::run,
        },
    },
    Step {
        name: "costs",
        core: false,
        work: Work::Verb {
            name: "bench check",
            run: bench::check,
        },
    },
];

/// What `--core` runs instead of `tests`: all that need no program but ours.
const CORE_TESTS: Step = Step {
    name: "tests",
    core: true,
    work: Work::Cargo {
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
        _ => return Err("takes `--core`, or nothing".to_owned()),
    };
    for (subcommand, component) in COMPONENTS {
        if !cargo::has(subcommand) {
            return Err(format!(
                "`cargo {subcommand}` is missing; get it with `rustup component add {component}`"
            ));
        }
    }
    if !core {
        requirements::ensure()?;
    }
    let mut took = Vec::new();
    for step in steps(core) {
        eprintln!("==> {}: {}", step.name, step.by_hand());
        let start = Instant::now();
        step.run().map_err(|why| {
            format!(
                "step `{}` failed: {why}\n  to run it alone: {}",
                step.name,
                step.by_hand()
            )
        })?;
        let elapsed = start.elapsed();
        eprintln!("    {} ok, {}", step.name, seconds(elapsed));
        took.push((step.name, elapsed));
    }
    eprintln!("{}", summary(&mut took));
    Ok(())
}

fn steps(core: bool) -> impl Iterator<Item = &'static Step> {
    let instead = core.then_some(&CORE_TESTS);
    let usual = STEPS.iter().filter(move |step| step.core || !core);
    usual.chain(instead)
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        match self.work {
            Work::Verb { run, .. } => run(&[]),
            Work::Cargo {
                environment,
                arguments,
            } => {
                let mut command = cargo::cargo();
                command.envs(environment.iter().copied()).args(arguments);
                succeed(command, "see above")
            }
        }
    }

    /// The step as one would type it.
    fn by_hand(&self) -> String {
        match self.work {
            Work::Verb { name, .. } => format!("cargo xtask {name}"),
            Work::Cargo {
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

/// The total, and the steps with the slowest first.
fn summary(took: &mut [(&str, Duration)]) -> String {
    let total: Duration = took.iter().map(|(_, elapsed)| *elapsed).sum();
    took.sort_by_key(|(_, elapsed)| std::cmp::Reverse(*elapsed));
    let steps: Vec<String> = took
        .iter()
        .map(|(name, elapsed)| format!("{name} {}", seconds(*elapsed)))
        .collect();
    format!("==> all good in {} ({})", seconds(total), steps.join(", "))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_can_be_typed_by_hand() {
        let typed: Vec<String> = STEPS.iter().map(Step::by_hand).collect();
        assert_eq!(
            typed,
            [
                "cargo fmt --all --check",
                "cargo xtask tidy",
                "cargo clippy --workspace --all-features --all-targets -- -D warnings",
                "cargo xtask features",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --all-features --no-deps --document-private-items",
                "cargo xtask packages",
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
                "format", "tidy", "lints", "features", "docs", "packages", "tests"
            ]
        );
        assert_eq!(steps(false).count(), STEPS.len());
    }

    #[test]
    fn the_summary_adds_up_and_begins_with_the_slowest() {
        let mut took = [
            ("format", Duration::from_millis(1_000)),
            ("lints", Duration::from_millis(2_500)),
        ];
        assert_eq!(
            summary(&mut took),
            "==> all good in 3.5 s (lints 2.5 s, format 1.0 s)"
        );
    }
}
