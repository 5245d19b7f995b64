//! What `cargo xtask test` needs of the system, looked for before anything is built.
//!
//! A run takes many minutes. A program that is missing is reported, or
//! installed, in its first second, and all missing ones together.

use std::process::{Command, Stdio};

use crate::{Failure, installation::succeed};

/// A program that some step runs.
struct Requirement {
    /// What it is called in the list of what is missing.
    name: &'static str,
    /// The step, or steps, that need it.
    needed_by: &'static str,
    /// A command that succeeds if it is there, and prints the version.
    probe: &'static [&'static str],
    /// The oldest version that will do, as `major.minor`.
    oldest: Option<(u32, u32)>,
    /// The Debian packages that bring it.
    packages: &'static [&'static str],
}

const REQUIREMENTS: &[Requirement] = &[
    Requirement {
        name: "git",
        needed_by: "tests",
        probe: &["git", "--version"],
        oldest: None,
        packages: &["git"],
    },
    Requirement {
        name: "Node.js 20 or newer",
        needed_by: "peers, conformance",
        probe: &["node", "--version"],
        oldest: Some((20, 0)),
        packages: &["nodejs"],
    },
    Requirement {
        name: "npm",
        needed_by: "peers, conformance",
        probe: &["npm", "--version"],
        oldest: None,
        packages: &["npm"],
    },
    Requirement {
        name: "Python 3.11 or newer",
        needed_by: "peers",
        probe: &["python3", "--version"],
        oldest: Some((3, 11)),
        packages: &["python3"],
    },
    Requirement {
        name: "Python's venv module",
        needed_by: "peers",
        probe: &["python3", "-c", "import venv, ensurepip"],
        oldest: None,
        packages: &["python3-venv"],
    },
    Requirement {
        name: "valgrind",
        needed_by: "costs",
        probe: &["valgrind", "--version"],
        oldest: None,
        packages: &["valgrind"],
    },
];

/// Makes sure that everything is there: installs Debian packages if we may, and
/// otherwise fails with one list of what is missing.
pub fn ensure() -> Result<(), Failure> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    if may_install() {
        install(&missing)?;
        let missing = self::missing();
        return match missing.is_empty() {
            true => Ok(()),
            false => Err(report(&missing)),
        };
    }
    Err(report(&missing))
}

fn missing() -> Vec<&'static Requirement> {
    REQUIREMENTS
        .iter()
        .filter(|requirement| !requirement.is_met())
        .collect()
}

impl Requirement {
    fn is_met(&self) -> bool {
        let Some(output) = output_of(self.probe) else {
            return false;
        };
        self.oldest
            .is_none_or(|oldest| version_in(&output).is_some_and(|found| found >= oldest))
    }
}

/// What a command prints, if it starts and succeeds.
fn output_of(command: &[&str]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

/// The first `major.minor` in what a program says of its version.
fn version_in(text: &str) -> Option<(u32, u32)> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let mut numbers = text[start..].split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Whether this is a Debian system on which we are root.
fn may_install() -> bool {
    output_of(&["apt-get", "--version"]).is_some()
        && output_of(&["id", "-u"]).is_some_and(|id| id.trim() == "0")
}

fn install(missing: &[&Requirement]) -> Result<(), Failure> {
    eprintln!("system: installing {}", packages(missing).join(" "));
    apt_get(&["update", "-q"])?;
    let mut arguments = vec!["install", "-qy", "--no-install-recommends"];
    arguments.extend(packages(missing));
    apt_get(&arguments)
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null());
    succeed(command, "without it: cargo xtask test --core")
}

fn packages(missing: &[&Requirement]) -> Vec<&'static str> {
    let packages = missing.iter().flat_map(|requirement| requirement.packages);
    packages.copied().collect()
}

fn report(missing: &[&Requirement]) -> Failure {
    let mut text = String::from("these programs are needed and were not found:\n");
    for requirement in missing {
        let Requirement {
            name, needed_by, ..
        } = requirement;
        text.push_str(&format!("  {name:<24} (for {needed_by})\n"));
    }
    text.push_str(&format!(
        "  on Debian and Ubuntu: apt-get install {}\n  without them: cargo xtask test --core",
        packages(missing).join(" ")
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_print() {
        for (text, version) in [
            ("v22.22.2\n", Some((22, 22))),
            ("Python 3.11.2\n", Some((3, 11))),
            ("git version 2.39.5", Some((2, 39))),
            ("nothing", None),
            ("7", None),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }

    #[test]
    fn a_program_that_is_missing_or_too_old_is_not_met() {
        let requirement = |probe, oldest| Requirement {
            name: "it",
            needed_by: "a test",
            probe,
            oldest,
            packages: &[],
        };
        assert!(!requirement(&["no-such-program-here"], None).is_met());
        assert!(requirement(&["echo", "it 2.3"], Some((2, 3))).is_met());
        assert!(!requirement(&["echo", "it 2.2"], Some((2, 3))).is_met());
        assert!(requirement(&["echo", "it"], None).is_met());
    }

    #[test]
    fn everything_missing_is_in_one_list() {
        let all: Vec<&Requirement> = REQUIREMENTS.iter().collect();
        let report = report(&all);
        for requirement in REQUIREMENTS {
            assert!(report.contains(requirement.name), "{report}");
            for package in requirement.packages {
                assert!(report.contains(package), "{report}");
            }
        }
    }
}
