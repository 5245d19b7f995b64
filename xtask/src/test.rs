//! `cargo xtask test`: everything that must hold before a commit.
//!
//! The steps go from cheap to dear, and the first failure ends the run: what
//! comes after it is rarely worth reading.

use std::time::{Duration, Instant};

use crate::{Failure, bench, cargo, conformance, no_arguments, peers, tidy};

struct Step {
    name: &'static str,
    /// The component of the toolchain that the step needs, if it may be missing.
    component: Option<Component>,
    work: Work,
}

struct Component {
    subcommand: &'static str,
    name: &'static str,
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

const STEPS: &[Step] = &[
    Step {
        name: "format",
        component: Some(Component {
            subcommand: "fmt",
            name: "rustfmt",
        }),
        work: Work::Cargo {
            environment: &[],
            arguments: &["fmt", "--all", "--check"],
        },
    },
    Step {
        name: "lints",
        component: Some(Component {
            subcommand: "clippy",
            name: "clippy",
        }),
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
        // What others turn on may hide what a crate lacks.
        name: "alone",
        component: None,
        work: Work::Cargo {
            environment: &[],
            arguments: &["check", "-p", "bowline-proto"],
        },
    },
    Step {
        name: "docs",
        component: None,
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
        name: "peers",
        component: None,
        work: Work::Verb {
            name: "peers",
            run: peers::run,
        },
    },
    Step {
        name: "tests",
        component: None,
        work: Work::Cargo {
            // The same random cases every time: a change is judged by what it
            // changes. To look for more, set another seed and run this step
            // alone.
            environment: &[("PROPTEST_RNG_SEED", "20260728")],
            arguments: &["test", "--workspace", "--all-features"],
        },
    },
    Step {
        name: "conformance",
        component: None,
        work: Work::Verb {
            name: "conformance",
            run: conformance::run,
        },
    },
    Step {
        name: "costs",
        component: None,
        work: Work::Verb {
            name: "bench check",
            run: bench::check,
        },
    },
    Step {
        name: "tidy",
        component: None,
        work: Work::Verb {
            name: "tidy",
            run: tidy::run,
        },
    },
];

/// Runs every step in order and stops at the first that fails.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let mut took = Vec::new();
    for step in STEPS {
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
    eprintln!("{}", summary(&took));
    Ok(())
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        if let Some(component) = &self.component
            && !cargo::has(component.subcommand)
        {
            let Component { subcommand, name } = component;
            return Err(format!(
                "`cargo {subcommand}` is missing; get it with `rustup component add {name}`"
            ));
        }
        match self.work {
            Work::Verb { run, .. } => run(&[]),
            Work::Cargo {
                environment,
                arguments,
            } => {
                let status = cargo::cargo()
                    .envs(environment.iter().copied())
                    .args(arguments)
                    .status()
                    .map_err(|error| format!("cargo did not start: {error}"))?;
                if status.success() {
                    Ok(())
                } else {
                    Err(status.to_string())
                }
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

fn summary(took: &[(&str, Duration)]) -> String {
    let total: Duration = took.iter().map(|(_, elapsed)| *elapsed).sum();
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
                "cargo clippy --workspace --all-features --all-targets -- -D warnings",
                "cargo check -p bowline-proto",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --all-features --no-deps --document-private-items",
                "cargo xtask peers",
                "PROPTEST_RNG_SEED=\"20260728\" cargo test --workspace --all-features",
                "cargo xtask conformance",
                "cargo xtask bench check",
                "cargo xtask tidy",
            ]
        );
    }

    #[test]
    fn the_summary_adds_up() {
        let took = [
            ("format", Duration::from_millis(1_000)),
            ("lints", Duration::from_millis(2_500)),
        ];
        assert_eq!(
            summary(&took),
            "==> all good in 3.5 s (format 1.0 s, lints 2.5 s)"
        );
    }
}
