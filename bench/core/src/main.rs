//! The core paths of ours, for counting instructions: `core-paths <path>
//! <times>`.
//!
//! All in one thread and in memory, so that a count is the same from run to
//! run. Sockets, pipes and other threads are measured elsewhere; here, a change
//! for the worse must show.

mod client;
mod http;
mod list;
mod server;

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

/// A path, and what runs it so many times.
type Path = (&'static str, fn(&Runtime, usize));

const PATHS: &[Path] = &[
    ("envelope", |_, times| server::envelope(times)),
    ("client-call", client::call),
    ("client-call-large", client::large),
    ("stream-call", client::stream),
    ("server-call", server::call),
    ("server-call-large", server::large),
    ("server-call-stateless", server::stateless),
    ("server-question", server::question),
    ("http-request", http::request),
    ("list-decode", list::decode),
    ("list-serve", list::serve),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = match &arguments[..] {
        [name, times] => PATHS
            .iter()
            .find(|path| path.0 == name)
            .zip(times.parse().ok()),
        _ => None,
    };
    let Some(((_, run), times)) = chosen else {
        eprintln!("core-paths <path> <times>, where a path is one of:");
        PATHS.iter().for_each(|(name, _)| eprintln!("  {name}"));
        return ExitCode::from(2);
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    run(&runtime.expect("a runtime starts"), times);
    ExitCode::SUCCESS
}
