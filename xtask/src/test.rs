//! `cargo xtask test`: all checks that must pass before a commit.
//!
//! The cheap steps run first, and the first failure ends the run: further
//! failures are rarely worth reading. Then the tests run, and the other checks
//! run beside them: much of either is one thread that compiles or waits.

use std::{
    process::Command,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Failure, bench, cargo, conformance, features, packages, peers, process, requirements, tidy,
};

struct Step {
    name: &'static str,
    phase: Phase,
    action: Action,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Before all others.
    First,
    Tests,
    /// Beside the tests. Its output is shown only if it fails.
    Checks,
    /// After all others: what it counts depends on the load, if that is heavy.
    Last,
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
        phase: Phase::First,
        action: Action::Cargo {
            environment: &[],
            arguments: &["fmt", "--all", "--check"],
        },
    },
    Step {
        name: "tidy",
        phase: Phase::First,
        action: Action::Xtask {
            name: "tidy",
            run: tidy::run,
        },
    },
    Step {
        name: "lints",
        phase: Phase::First,
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
        phase: Phase::Checks,
        action: Action::Cargo {
            // A check does not link, so libFuzzer need not be compiled.
            environment: &[("CUSTOM_LIBFUZZER_PATH", "target/libfuzzer.a")],
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
        phase: Phase::Checks,
        action: Action::Xtask {
            name: "features",
            run: features::run,
        },
    },
    Step {
        name: "docs",
        phase: Phase::Checks,
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
        phase: Phase::Checks,
        action: Action::Xtask {
            name: "packages",
            run: packages::run,
        },
    },
    Step {
        name: "guides",
        phase: Phase::Checks,
        action: Action::Cargo {
            environment: &[],
            // The guide that compares Bowline with rmcp: nothing else depends on rmcp.
            arguments: &[
                "check",
                "--locked",
                "--manifest-path",
                "docs/guides/rmcp/Cargo.toml",
                "--target-dir",
                "target",
            ],
        },
    },
    Step {
        name: "peers",
        phase: Phase::Tests,
        action: Action::Xtask {
            name: "peers",
            run: peers::run,
        },
    },
    Step {
        name: "tests",
        phase: Phase::Tests,
        action: Action::Cargo {
            environment: SEED,
            arguments: &["test", "--workspace", "--all-features"],
        },
    },
    Step {
        name: "conformance",
        phase: Phase::Tests,
        action: Action::Xtask {
            name: "conformance",
            run: conformance::run,
        },
    },
    Step {
        name: "bench build",
        phase: Phase::Checks,
        action: Action::Xtask {
            name: "bench build",
            run: bench::build_core,
        },
    },
    Step {
        name: "bench",
        phase: Phase::Last,
        action: Action::Xtask {
            name: "bench check",
            run: bench::check,
        },
    },
];

/// The step that `--core` runs instead of `tests`: the tests that need no
/// third-party programs. A test that needs one is in a module with one of these
/// names.
const CORE_TESTS: Step = Step {
    name: "tests",
    phase: Phase::Tests,
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
            "--skip",
            "suite::",
            "--skip",
            "with_redis::",
        ],
    },
};

/// Runs every step. Starts no further step after one has failed.
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
    requirements::ensure(core)?;
    let start = Instant::now();
    let progress = Progress::default();
    progress.run_all(steps(core, Phase::First), Step::run);
    thread::scope(|scope| {
        scope.spawn(|| progress.run_all(steps(core, Phase::Checks), Step::run_captured));
        progress.run_all(steps(core, Phase::Tests), Step::run);
    });
    progress.run_all(steps(core, Phase::Last), Step::run);
    let timings = progress.into_timings()?;
    eprintln!("{}", summary(start.elapsed(), timings));
    Ok(())
}

/// The steps of a phase. With `--core`, those that need nothing but Rust.
fn steps(core: bool, phase: Phase) -> impl Iterator<Item = &'static Step> {
    let needs_more = matches!(phase, Phase::Tests | Phase::Last);
    let selected = STEPS
        .iter()
        .filter(move |step| step.phase == phase && !(core && needs_more));
    let core_tests = core && phase == Phase::Tests;
    selected.chain(core_tests.then_some(&CORE_TESTS))
}

/// The results of the steps so far.
#[derive(Default)]
struct Progress {
    timings: Mutex<Vec<(&'static str, Duration)>>,
    failures: Mutex<Vec<Failure>>,
}

impl Progress {
    /// Runs the steps in order, until one fails or has failed elsewhere.
    fn run_all(
        &self,
        steps: impl Iterator<Item = &'static Step>,
        run: fn(&Step) -> Result<(), Failure>,
    ) {
        for step in steps {
            if !self.failures.lock().expect("not poisoned").is_empty() {
                return;
            }
            eprintln!("==> {}: {}", step.name, step.command_line());
            let start = Instant::now();
            let result = run(step);
            let elapsed = start.elapsed();
            if let Err(failure) = result {
                let failure = format!(
                    "step `{}` failed: {failure}\n  to run only this step: {}",
                    step.name,
                    step.command_line()
                );
                eprintln!("==> {failure}");
                self.failures.lock().expect("not poisoned").push(failure);
                return;
            }
            eprintln!("==> {} ok, {}", step.name, seconds(elapsed));
            let mut timings = self.timings.lock().expect("not poisoned");
            timings.push((step.name, elapsed));
        }
    }

    fn into_timings(self) -> Result<Vec<(&'static str, Duration)>, Failure> {
        let failures = self.failures.into_inner().expect("not poisoned");
        match failures.is_empty() {
            true => Ok(self.timings.into_inner().expect("not poisoned")),
            false => Err(failures.join("\n")),
        }
    }
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        match self.action {
            Action::Xtask { run, .. } => run(&[]),
            Action::Cargo { .. } => process::run(self.command(), "see above"),
        }
    }

    /// Runs the step as a process of its own, and prints its output if it fails. The
    /// tests, some of which wait for servers with a time limit, have the higher priority.
    fn run_captured(&self) -> Result<(), Failure> {
        let output = process::with_low_priority(self.command())
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        for stream in [output.stdout, output.stderr] {
            eprint!("{}", String::from_utf8_lossy(&stream));
        }
        Err(format!("{} (see above)", output.status))
    }

    fn command(&self) -> Command {
        let mut command = cargo::cargo();
        match self.action {
            Action::Xtask { name, .. } => command.arg("xtask").args(name.split(' ')),
            Action::Cargo {
                environment,
                arguments,
            } => command.envs(environment.iter().copied()).args(arguments),
        };
        command
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
fn summary(total: Duration, mut timings: Vec<(&str, Duration)>) -> String {
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
                "CUSTOM_LIBFUZZER_PATH=\"target/libfuzzer.a\" cargo check --quiet --locked --manifest-path crates/bowline-proto/fuzz/Cargo.toml --target-dir target",
                "cargo xtask features",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --all-features --no-deps --document-private-items",
                "cargo xtask packages",
                "cargo check --locked --manifest-path docs/guides/rmcp/Cargo.toml --target-dir target",
                "cargo xtask peers",
                "PROPTEST_RNG_SEED=\"20260728\" cargo test --workspace --all-features",
                "cargo xtask conformance",
                "cargo xtask bench build",
                "cargo xtask bench check",
            ]
        );
    }

    #[test]
    fn the_core_steps_need_no_third_party_programs() {
        let phases = [Phase::First, Phase::Tests, Phase::Checks, Phase::Last];
        let names = |core, phase| steps(core, phase).map(|step| step.name);
        let core: Vec<&str> = phases
            .into_iter()
            .flat_map(|phase| names(true, phase))
            .collect();
        assert_eq!(
            core,
            [
                "format",
                "tidy",
                "lints",
                "tests",
                "fuzz targets",
                "features",
                "docs",
                "packages",
                "guides",
                "bench build"
            ]
        );
        let all = phases.into_iter().flat_map(|phase| names(false, phase));
        assert_eq!(all.count(), STEPS.len());
    }

    #[test]
    fn no_step_starts_after_a_failure() {
        let progress = Progress::default();
        let fails = |_: &Step| Err("broken".to_owned());
        progress.run_all(STEPS.iter(), fails);
        progress.run_all(STEPS.iter(), |_| Ok(()));
        let failure = progress.into_timings().expect_err("a step failed");
        assert_eq!(
            failure,
            "step `format` failed: broken\n  to run only this step: cargo fmt --all --check"
        );
    }

    #[test]
    fn the_summary_begins_with_the_slowest() {
        let timings = vec![
            ("format", Duration::from_millis(1_000)),
            ("lints", Duration::from_millis(2_500)),
        ];
        assert_eq!(
            summary(Duration::from_millis(3_000), timings),
            "==> all steps passed in 3.0 s (lints 2.5 s, format 1.0 s)"
        );
    }
}
