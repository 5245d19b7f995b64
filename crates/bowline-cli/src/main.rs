//! The `bowline` command: look at, call and debug MCP servers.
//!
//! - `args` parses the command line; `commands` has one file per command.
//! - `target` resolves the server and connects to it.
//! - `arguments` parses tool arguments; `signature` shows what a tool takes.
//! - `interaction` answers questions that servers ask users and models.
//! - `fleet` works with many servers at once: their health and what they offer.
//! - `output` prints for people and programs; `failure` holds errors and exit
//!   codes; `shutdown` makes sure no server is left running.
//! - `input` reads files named on the command line; `signals` waits for Ctrl-C
//!   and SIGTERM; `dirs` locates the state directory; `locks` takes locks.
//! - `sign_in` handles authorization.
//! - `traffic` shows, records and replays messages.
//! - `demo` is the built-in server; `doctor` diagnoses servers that do not
//!   work.

mod args;
mod arguments;
mod atomic_file;
mod commands;
mod context;
mod demo;
mod dirs;
mod doctor;
mod failure;
mod fleet;
mod input;
mod interaction;
mod locked;
mod locks;
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
    let answers = globals.read_answers().and_then(|()| globals.read_lock());
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
    // Everything is printed; now stop the servers.
    runtime.block_on(context.shutdown.wait(context.time_left()));
    // Tasks that are still running have nobody to report to.
    runtime.shutdown_background();
    code
}

/// Builds the runtime. A single thread is enough and the fastest to start.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start the async runtime: {error}")))
}
