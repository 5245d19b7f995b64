//! `cargo xtask <verb>`: one verb for each thing that people and CI run.
//!
//! Nothing here depends on anything but the standard library, so that the
//! first `cargo xtask` on a fresh machine builds in a second.

mod bench;
mod cargo;
mod conformance;
mod fuzz;
mod installation;
mod peers;
mod test;
mod tidy;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

struct Verb {
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "test",
        arguments: "",
        help: "everything that must hold before a commit: format, lints, docs, tests, tidy",
        run: test::run,
    },
    Verb {
        name: "peers",
        arguments: "",
        help: "installs the servers of others that the tests talk to, if they are not there",
        run: peers::run,
    },
    Verb {
        name: "conformance",
        arguments: "[--help]",
        help: "the official suite against our server and client; writes conformance/RESULTS.md",
        run: conformance::run,
    },
    Verb {
        name: "tidy",
        arguments: "",
        help: "the repository's rules that the compiler cannot check",
        run: tidy::run,
    },
    Verb {
        name: "fuzz",
        arguments: "[target] [seconds]",
        help: "each fuzz target of bowline-proto, or one, for 60 seconds or as long as you say",
        run: fuzz::run,
    },
    Verb {
        name: "bench",
        arguments: "[--quick] [name…]",
        help: "what things cost, beside others; `core` counts ours only, `command` is from a shell",
        run: bench::run,
    },
    Verb {
        name: "help",
        arguments: "",
        help: "this list",
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
    fn verbs_without_arguments_refuse_them() {
        assert!(no_arguments(&[]).is_ok());
        assert!(
            no_arguments(&["--fast".into()])
                .unwrap_err()
                .contains("--fast")
        );
    }
}
