//! Lists of many tools: what it takes to read one, and to serve one.

mod decode;
mod page;
mod serve;

use tokio::runtime::{Builder, Runtime};

use crate::{Failure, growth::option};

/// Runs what the arguments name: `decode <who>` or `serve <who>`, with
/// `--times N` and `--tools N`.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    let times = option(arguments, "--times", 100)?;
    let tools = option(arguments, "--tools", 1_000)?;
    match arguments {
        ["decode", who, ..] => runtime(who)?.block_on(decode::measure(who, tools, times)),
        ["serve", who, ..] => runtime(who)?.block_on(serve::measure(who, tools, times)),
        other => Err(format!("nothing is called {other:?}")),
    }
}

/// The runtime that `#[tokio::main]` makes; one thread where that is better.
fn runtime(who: &str) -> Result<Runtime, Failure> {
    let mut builder = match who {
        "rmcp-tuned" | "limit" => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}
