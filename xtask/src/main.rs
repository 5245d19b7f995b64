//! `cargo xtask <command>`: the commands that developers and CI run.
//!
//! This crate depends on the standard library only, so the first `cargo xtask`
//! on a fresh machine builds in a second.

mod bench;
mod book;
mod cargo;
mod conformance;
mod failure;
mod features;
mod fuzz;
mod installation;
mod packages;
mod peers;
mod process;
mod requirements;
mod test;
mod tidy;

use std::process::ExitCode;

use failure::Failure;

struct Subcommand {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    /// Further lines for its own help.
    details: &'static [&'static str],
    run: fn(&[String]) -> Result<(), Failure>,
}

impl Subcommand {
    fn usage(&self) -> String {
        let call = format!("{} {}", self.name, self.arguments);
        let mut text = format!("Usage: cargo xtask {}\n\n{}\n", call.trim_end(), self.help);
        for line in self.details {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }
}

/// Returns whether the arguments ask for help, in which case nothing is run.
fn is_help_requested(arguments: &[String]) -> bool {
    let own = arguments.iter().take_while(|argument| *argument != "--");
    own.into_iter()
        .any(|argument| matches!(argument.as_str(), "-h" | "--help"))
}

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "test",
        arguments: "[--core]",
        help: "runs all checks that must pass before a commit; `--core` needs only Rust",
        details: &[],
        run: test::run,
    },
    Subcommand {
        name: "peers",
        arguments: "",
        help: "installs the third-party servers and clients that the tests need",
        details: &[],
        run: peers::run,
    },
    Subcommand {
        name: "conformance",
        arguments: "[options]",
        help: "runs the official conformance suite; writes conformance/RESULTS.md",
        details: conformance::DETAILS,
        run: conformance::run,
    },
    Subcommand {
        name: "features",
        arguments: "[--list]",
        help: "checks that the library compiles with each feature set; `--list` prints the sets",
        details: &[],
        run: features::run,
    },
    Subcommand {
        name: "packages",
        arguments: "",
        help: "checks every published crate as packaged for the registry",
        details: &[],
        run: packages::run,
    },
    Subcommand {
        name: "tidy",
        arguments: "",
        help: "checks the repository's rules that the compiler cannot check",
        details: &[],
        run: tidy::run,
    },
    Subcommand {
        name: "book",
        arguments: "[--open]",
        help: "builds the guides as a book in target/book",
        details: &[],
        run: book::run,
    },
    Subcommand {
        name: "fuzz",
        arguments: "[target] [seconds]",
        help: "runs one fuzz target of bowline-proto or all of them, each for 60 seconds by default",
        details: &[],
        run: fuzz::run,
    },
    Subcommand {
        name: "bench",
        arguments: "[--quick] [name…]",
        help: "measures performance, and compares it with rmcp and others",
        details: bench::DETAILS,
        run: bench::run,
    },
    Subcommand {
        name: "help",
        arguments: "",
        help: "prints this list",
        details: &[],
        run: help,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", usage());
        return ExitCode::from(2);
    };
    let name = match name.as_str() {
        "-h" | "--help" => "help",
        name => name,
    };
    let Some(subcommand) = SUBCOMMANDS
        .iter()
        .find(|subcommand| subcommand.name == name)
    else {
        eprint!("unknown command `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    if is_help_requested(rest) {
        print!("{}", subcommand.usage());
        return ExitCode::SUCCESS;
    }
    match (subcommand.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {name}: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn help(_: &[String]) -> Result<(), Failure> {
    print!("{}", usage());
    Ok(())
}

fn usage() -> String {
    let mut text = String::from("Usage: cargo xtask <command>\n\n");
    for subcommand in SUBCOMMANDS {
        let call = format!("{} {}", subcommand.name, subcommand.arguments);
        text.push_str(&format!("  {:<25} {}\n", call.trim_end(), subcommand.help));
    }
    text
}

/// Fails if there are arguments, for commands that take none.
fn expect_no_arguments(arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "unexpected argument `{first}`: this command takes none"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_lists_every_command() {
        let usage = usage();
        for subcommand in SUBCOMMANDS {
            assert!(
                usage.contains(&format!("\n  {}", subcommand.name)),
                "{usage}"
            );
        }
    }

    #[test]
    fn help_can_be_requested_after_a_command() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_help_requested(&words("--help")));
        assert!(is_help_requested(&words("--quick core -h")));
        assert!(!is_help_requested(&words("core --record")));
        assert!(!is_help_requested(&words("core -- --help")));
        let bench = SUBCOMMANDS
            .iter()
            .find(|subcommand| subcommand.name == "bench");
        let bench = bench.expect("`bench` is a command");
        assert!(
            bench.usage().contains("core [--record]"),
            "{}",
            bench.usage()
        );
    }

    #[test]
    fn commands_without_arguments_reject_them() {
        assert!(expect_no_arguments(&[]).is_ok());
        assert!(
            expect_no_arguments(&["--fast".into()])
                .unwrap_err()
                .contains("--fast")
        );
    }
}
