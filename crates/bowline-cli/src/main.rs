//! The `bowline` command: look at, call and debug MCP servers.
//!
//! - `args` is what can be typed, `verbs` what is done about it, one file each.
//! - `target` finds the server that is meant, and connects to it.
//! - `arguments` reads what is given to a tool, `signature` shows what it takes.
//! - `talk` is the other direction: what servers ask of people and models.
//! - `fleet` is many servers at once: how they are, and what they offer.
//! - `output` is what people and programs read; `failure` what went wrong, and
//!   the exit code. `departure` sees to it that no server is left behind.
//! - `input` reads files that are named, `signals` hears what ends the command.
//! - `sign_in` gets into servers that want to know who is asking.
//! - `traffic` shows, records and replays what goes over the wire.
//! - `demo` is a server that is always there; `doctor` finds out what is wrong
//!   with one that is not.

mod args;
mod arguments;
mod commands;
mod context;
mod demo;
mod dirs;
mod doctor;
mod failure;
mod fleet;
mod input;
mod interaction;
mod output;
mod shutdown;
mod sign_in;
mod signals;
mod signature;
mod target;
mod traffic;

use std::process::ExitCode;

use clap::Parser as _;

use self::{args::Cli, context::Context, failure::Failure};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(error),
    };
    let mut globals = cli.globals;
    let answers = globals.read_answers();
    let context = Context::new(globals);
    if let Err(failure) = answers {
        return context.report(&failure);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return context.report(&failure),
    };
    let code = match runtime.block_on(cli.command.run(&context)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => context.report(&failure),
    };
    // All was said; what is left is to end what was begun.
    runtime.block_on(context.shutdown.wait(context.time_left()));
    // What still runs has nobody to report to.
    runtime.shutdown_background();
    code
}

/// One thread is enough for one command, and the quickest to start.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))
}
