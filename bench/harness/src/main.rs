//! `bench [--quick] [--anyway] [name…]`: lets the contenders of each group take
//! turns, and writes what came out.

mod figure;
mod group;
mod groups;
mod plot;
mod program;

use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
type Failure = String;

fn main() -> ExitCode {
    for group in groups::all() {
        println!("{}: {}", group.name, group.about);
    }
    ExitCode::SUCCESS
}
