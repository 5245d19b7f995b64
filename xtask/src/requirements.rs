//! The system programs that `cargo xtask test` needs, checked before anything is built.
//!
//! A run takes many minutes. Missing programs are installed or reported in its
//! first second, all of them at once.

use std::process::{Command, Stdio};

use crate::{Failure, process};

/// A program that a step runs.
struct Requirement {
    /// Its name in the list of missing programs.
    name: &'static str,
    /// The steps that need it.
    needed_by: &'static str,
    /// Whether `--core` has one of these steps.
    in_core: bool,
    /// A command that succeeds if the program is installed, and prints its version.
    probe: &'static [&'static str],
    /// The minimum version, as `major.minor`.
    min_version: Option<(u32, u32)>,
    /// The Debian packages that contain it.
    packages: &'static [&'static str],
}

const REQUIREMENTS: &[Requirement] = &[
    Requirement {
        name: "git",
        needed_by: "tests",
        in_core: false,
        probe: &["git", "--version"],
        min_version: None,
        packages: &["git"],
    },
    // Part of every system that we know, so `--core` uses it too.
    Requirement {
        name: "tar",
        needed_by: "packages, peers",
        in_core: true,
        probe: &["tar", "--version"],
        min_version: None,
        packages: &["tar"],
    },
    Requirement {
        name: "Node.js 20 or newer",
        needed_by: "peers, tests, conformance",
        in_core: false,
        probe: &["node", "--version"],
        min_version: Some((20, 0)),
        packages: &["nodejs"],
    },
    Requirement {
        name: "npm",
        needed_by: "peers, conformance",
        in_core: false,
        probe: &["npm", "--version"],
        min_version: None,
        packages: &["npm"],
    },
    Requirement {
        name: "Python 3.11 or newer",
        needed_by: "peers, tests",
        in_core: false,
        probe: &["python3", "--version"],
        min_version: Some((3, 11)),
        packages: &["python3"],
    },
    Requirement {
        name: "Python's venv module",
        needed_by: "peers",
        in_core: false,
        probe: &["python3", "-c", "import venv, ensurepip"],
        min_version: None,
        packages: &["python3-venv"],
    },
    Requirement {
        name: "Redis 6.2 or Valkey",
        needed_by: "tests",
        in_core: false,
        probe: &[
            "sh",
            "-c",
            "redis-server --version || valkey-server --version",
        ],
        min_version: Some((6, 2)),
        packages: &["redis-server"],
    },
    Requirement {
        name: "valgrind",
        needed_by: "bench",
        in_core: false,
        probe: &["valgrind", "--version"],
        min_version: None,
        packages: &["valgrind"],
    },
];

/// The packages that start a service of the same name when they are installed.
const SERVICES: &[&str] = &["redis-server"];

/// Checks that all programs are installed, or those that `--core` needs. Missing
/// ones are installed if this is a Debian system and we are root; otherwise fails
/// with a list of them.
pub fn ensure(core: bool) -> Result<(), Failure> {
    let missing = missing(core);
    if missing.is_empty() {
        return Ok(());
    }
    if can_install() {
        install(&missing)?;
        let missing = self::missing(core);
        return match missing.is_empty() {
            true => Ok(()),
            false => Err(report(&missing)),
        };
    }
    Err(report(&missing))
}

fn missing(core: bool) -> Vec<&'static Requirement> {
    REQUIREMENTS
        .iter()
        .filter(|requirement| requirement.in_core || !core)
        .filter(|requirement| !requirement.is_met())
        .collect()
}

impl Requirement {
    fn is_met(&self) -> bool {
        let Some(output) = output_of(self.probe) else {
            return false;
        };
        self.min_version
            .is_none_or(|min| parse_version(&output).is_some_and(|found| found >= min))
    }
}

/// The standard output of a command, if it starts and succeeds.
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

/// The first `major.minor` in the output of a program.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let mut numbers = text[start..].split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns whether this is a Debian system and we are root.
fn can_install() -> bool {
    output_of(&["apt-get", "--version"]).is_some()
        && output_of(&["id", "-u"]).is_some_and(|id| id.trim() == "0")
}

fn install(missing: &[&Requirement]) -> Result<(), Failure> {
    eprintln!("requirements: installing {}", packages(missing).join(" "));
    apt_get(&["update", "-q"])?;
    let mut arguments = vec!["install", "-qy", "--no-install-recommends"];
    arguments.extend(packages(missing));
    apt_get(&arguments)?;
    stop_services(&packages(missing));
    Ok(())
}

/// Ends the services that packages have started: the tests start their own.
fn stop_services(installed: &[&str]) {
    for service in SERVICES.iter().filter(|name| installed.contains(name)) {
        // Containers have no systemd, and mostly nothing to end.
        let ended = output_of(&["systemctl", "disable", "--now", service]);
        if ended.is_none() {
            output_of(&["service", service, "stop"]);
        }
    }
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null());
    process::run(command, "`cargo xtask test --core` needs no other programs")
}

fn packages(missing: &[&Requirement]) -> Vec<&'static str> {
    let packages = missing.iter().flat_map(|requirement| requirement.packages);
    packages.copied().collect()
}

fn report(missing: &[&Requirement]) -> Failure {
    let mut text = String::from("required programs are missing or too old:\n");
    for requirement in missing {
        let Requirement {
            name, needed_by, ..
        } = requirement;
        text.push_str(&format!("  {name:<24} (needed by: {needed_by})\n"));
    }
    text.push_str(&format!(
        "  on Debian and Ubuntu: apt-get install {}\n  to run only the steps that need no other programs: cargo xtask test --core",
        packages(missing).join(" ")
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_from_program_output() {
        for (text, version) in [
            ("v22.22.2\n", Some((22, 22))),
            ("Python 3.11.2\n", Some((3, 11))),
            ("git version 2.39.5", Some((2, 39))),
            ("nothing", None),
            ("7", None),
        ] {
            assert_eq!(parse_version(text), version, "{text}");
        }
    }

    #[test]
    fn a_missing_or_outdated_program_does_not_meet_its_requirement() {
        let requirement = |probe, min_version| Requirement {
            name: "it",
            needed_by: "a test",
            in_core: false,
            probe,
            min_version,
            packages: &[],
        };
        assert!(!requirement(&["no-such-program-here"], None).is_met());
        assert!(requirement(&["echo", "it 2.3"], Some((2, 3))).is_met());
        assert!(!requirement(&["echo", "it 2.2"], Some((2, 3))).is_met());
        assert!(requirement(&["echo", "it"], None).is_met());
    }

    #[test]
    fn the_report_lists_every_missing_program() {
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
