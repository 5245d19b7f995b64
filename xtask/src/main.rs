//! `cargo xtask <verb>`: one verb for each thing that people and CI run.
//!
//! Nothing here depends on anything but the standard library, so that the
//! first `cargo xtask` on a fresh machine builds in a second.

mod bench;
mod book;
mod cargo;
mod conformance;
mod features;
mod fuzz;
mod installation;
mod packages;
mod peers;
mod requirements;
mod test;
mod tidy;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

struct Verb {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    /// What more there is to say when one asks, a line each.
    details: &'static [&'static str],
    run: fn(&[String]) -> Result<(), Failure>,
}

impl Verb {
    fn usage(&self) -> String {
        let call = format!("{} {}", self.name, self.arguments);
        let mut text = format!("Usage: cargo xtask {}\n\n{}\n", call.trim_end(), self.help);
        for line in self.details {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }
}

/// Whether help is wanted: nothing is built or run then.
fn asks_for_help(arguments: &[String]) -> bool {
    let own = arguments.iter().take_while(|argument| *argument != "--");
    own.into_iter()
        .any(|argument| matches!(argument.as_str(), "-h" | "--help"))
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        arguments: "[--core]",
        help: "everything that must hold before a commit; `--core` needs Rust alone",
        details: &[],
        run: test::run,
    },
    Verb {
        name: "peers",
        arguments: "",
        help: "installs the servers of others that the tests talk to, if they are not there",
        details: &[],
        run: peers::run,
    },
    Verb {
        name: "conformance",
        arguments: "[options]",
        help: "the official suite against our server and client; writes conformance/RESULTS.md",
        details: conformance::DETAILS,
        run: conformance::run,
    },
    Verb {
        name: "features",
        arguments: "[--list]",
        help: "checks the library with each set of features that people use",
        details: &[],
        run: features::run,
    },
    Verb {
        name: "packages",
        arguments: "",
        help: "checks every crate that is published in its packed form",
        details: &[],
        run: packages::run,
    },
    Verb {
        name: "tidy",
        arguments: "",
        help: "the repository's rules that the compiler cannot check",
        details: &[],
        run: tidy::run,
    },
    Verb {
        name: "book",
        arguments: "[--open]",
        help: "builds the guides as a book in target/book",
        details: &[],
        run: book::run,
    },
    Verb {
        name: "fuzz",
        arguments: "[target] [seconds]",
        help: "each fuzz target of bowline-proto, or one, for 60 seconds or as long as you say",
        details: &[],
        run: fuzz::run,
    },
    Verb {
        name: "bench",
        arguments: "[--quick] [name…]",
        help: "what things cost, beside others; `core` counts ours only, `command` is from a shell",
        details: bench::DETAILS,
        run: bench::run,
    },
    Verb {
        name: "help",
        arguments: "",
        help: "this list",
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
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprint!("There is no verb `{name}`.\n\n{}", usage());
        return ExitCode::from(2);
    };
    if asks_for_help(rest) {
        print!("{}", verb.usage());
        return ExitCode::SUCCESS;
    }
    match (verb.run)(rest) {
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
    let mut text = String::from("Usage: cargo xtask <verb>\n\n");
    for verb in VERBS {
        let call = format!("{} {}", verb.name, verb.arguments);
        text.push_str(&format!("  {:<25} {}\n", call.trim_end(), verb.help));
    }
    text
}

/// Refuses arguments, for the verbs that take none.
fn no_arguments(arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(format!("takes no arguments, but got `{first}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_lists_every_verb() {
        let usage = usage();
        for verb in VERBS {
            assert!(usage.contains(&format!("\n  {}", verb.name)), "{usage}");
        }
    }

    #[test]
    fn help_is_asked_for_behind_a_verb_too() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(asks_for_help(&words("--help")));
        assert!(asks_for_help(&words("--quick core -h")));
        assert!(!asks_for_help(&words("core --record")));
        assert!(!asks_for_help(&words("core -- --help")));
        let bench = VERBS.iter().find(|verb| verb.name == "bench");
        let bench = bench.expect("there is one");
        assert!(
            bench.usage().contains("core [--record]"),
            "{}",
            bench.usage()
        );
    }

    #[test]
    fn verbs_without_arguments_refuse_them() {
        assert!(no_arguments(&[]).is_ok());
        assert!(
            no_arguments(&["--fast".into()])
                .unwrap_err()
                .contains("--fast")
        );
    }
}
