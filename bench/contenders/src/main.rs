//! The programs that are measured, in one: to link each by itself would take
//! minutes. What is not called costs nothing but disk.
//!
//! `contenders <area> <arguments…>`; the harness knows them. What was measured
//! is printed as one line of JSON, names to numbers.

mod growth;
mod http;
mod list;
mod process;
mod stdio;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.split_first() {
        Some((&"stdio", rest)) => stdio::main(rest),
        Some((&"http", rest)) => http::main(rest),
        Some((&"list", rest)) => list::main(rest),
        Some((&"growth", rest)) => growth::main(rest),
        _ => Err("an area is wanted: stdio, http, list or growth".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("contenders: {failure}");
            ExitCode::FAILURE
        }
    }
}
