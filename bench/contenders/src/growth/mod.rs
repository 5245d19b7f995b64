//! What happens to the cost of one when there are many: tools, calls in
//! flight, connections.
//!
//! All of it on one thread, and the other end of the pipe with it: what is
//! compared is one count with another, not one program with another.

pub(crate) mod answering;
pub(crate) mod asking;
mod calls;
mod connections;
pub(crate) mod lines;
pub(crate) mod link;
pub(crate) mod moment;
pub(crate) mod numbers;
pub(crate) mod ours;
mod registered;
pub(crate) mod rmcp;
mod tools;

use tokio::runtime::Builder;

use self::numbers::number;
use crate::Failure;

/// Runs what the arguments name: `tools <who> <count>`, `calls <who> <count>`
/// or `connections ours <count>`, each with `--times N`.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let times = option(arguments, "--times", 10_000)?;
    match arguments {
        ["tools", who, count, ..] => runtime.block_on(tools::measure(who, number(count)?, times)),
        ["calls", who, count, ..] => runtime.block_on(calls::measure(who, number(count)?, times)),
        ["connections", "ours", count, ..] => {
            runtime.block_on(connections::measure(number(count)?, times))
        }
        other => Err(format!("nothing is called {other:?}")),
    }
}

/// The number after an option such as `--times`.
pub(crate) fn option(arguments: &[&str], name: &str, otherwise: usize) -> Result<usize, Failure> {
    let mut pairs = arguments.windows(2);
    match pairs.find(|pair| pair[0] == name) {
        Some(pair) => number(pair[1]),
        None => Ok(otherwise),
    }
}
