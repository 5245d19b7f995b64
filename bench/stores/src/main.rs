//! Servers whose calls ask or become tasks, and a client that makes such calls.
//!
//! - `serve <conversations|tasks> <memory|URL of a Redis>` serves on a free port of
//!   the loopback interface, prints the address, and ends when its standard input
//!   closes.
//! - `talk <address> <tool> <times> <width>` makes calls of 2026-07-28, answers what
//!   they ask, and prints how long that took, as one line of JSON.

mod serve;
mod talk;
mod wire;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        ["serve", tools, store] => serve::run(tools, store),
        ["talk", address, tool, times, width] => talk::run(address, tool, times, width),
        _ => Err(format!("nothing is called {arguments:?}")),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("stores: {failure}");
            ExitCode::FAILURE
        }
    }
}
