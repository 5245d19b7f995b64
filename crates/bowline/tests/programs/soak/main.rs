//! Soak tests under attack, for as long as you like. Each prints its
//! measurements.
//!
//! ```text
//! cargo run --release -p bowline --all-features --example soak -- servers 600
//! cargo run --release -p bowline --all-features --example soak -- clients 600
//! cargo run --release -p bowline --all-features --example soak -- load 600 <command> [arguments…]
//! ```
//!
//! - `servers`: our client connects to hostile servers, over pipes and over
//!   HTTP, and to an honest one.
//! - `clients`: our HTTP server serves hostile clients and an honest one.
//! - `load`: full load on one server that answers most calls with their nonce,
//!   such as `faulty_server flaky`.
//!
//! In the first two, the honest peer is measured alone first, and then during
//! the attack. A run fails, with exit code 1, unless
//!
//! - the memory of the process under test stays flat: its peak in the last
//!   quarter is at most an eighth and 4 MiB above that in the first, after a
//!   warm-up; a process that died fails too;
//! - the median latency of honest calls is at most twice what it was before the
//!   attack;
//! - no honest call fails, and everything that our client starts ends;
//! - with `load`, memory stays flat and no result belongs to another call.
//!
//! The attackers together use at most half a core: on a machine with two cores
//! the run would otherwise measure the attackers, not the work they cause. That
//! work is not limited. `BOWLINE_SEED` repeats the same random choices. A run
//! takes at least a minute, and ten to be meaningful.

#![expect(clippy::print_stdout, reason = "prints a report")]

mod figures;
mod hostile_client;
mod hostile_http;
mod hostile_server;
mod load;
mod pace;
mod report;
#[path = "../../it/sync.rs"]
mod sync;
mod under_clients;
mod under_servers;
mod verdict;

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use bowline::server::{Server, Tool};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut words = env::args().skip(1);
    let role = words.next().unwrap_or_default();
    match role.as_str() {
        // Roles that run in their own processes, to separate their memory from
        // that of the process under test.
        "hostile-server" => hostile_server::run(number(words.next())?)?,
        "hostile-http" => hostile_http::run(number(words.next())?)?,
        "hostile-clients" => {
            let (port, seed) = (number(words.next())?, number(words.next())?);
            runtime()?.block_on(hostile_client::run_all(u16::try_from(port)?, seed));
        }
        "honest-server" => runtime()?.block_on(honest().serve_stdio())?,
        "attacked-server" => runtime()?.block_on(under_clients::serve())?,
        "servers" => runtime()?.block_on(under_servers::run(number(words.next())?))?,
        "clients" => runtime()?.block_on(under_clients::run(number(words.next())?))?,
        "load" => {
            let seconds = number(words.next())?;
            let command = words
                .next()
                .ok_or("missing command: soak load <seconds> <command> [arguments…]")?;
            runtime()?.block_on(load::run(seconds, command, words))?;
        }
        other => {
            return Err(format!("unknown run {other:?}, expected servers, clients or load").into());
        }
    }
    Ok(())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build()
}

fn number(word: Option<String>) -> Result<u64, Failure> {
    Ok(word.ok_or("how many?")?.parse()?)
}

/// Returns the seed of all random choices, from `BOWLINE_SEED` or new.
fn seed() -> u64 {
    let given = env::var("BOWLINE_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| std::process::id().into());
    println!("BOWLINE_SEED={seed}");
    seed
}

/// Starts a role that serves HTTP in its own process, and reads its port.
fn start(role: &[&str]) -> Result<(Child, u16), Failure> {
    let mut command = Command::new(env::current_exe()?);
    command
        .args(role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut line = String::new();
    let stdout = child
        .stdout
        .take()
        .ok_or("the process has no standard output")?;
    BufReader::new(stdout).read_line(&mut line)?;
    Ok((child, line.trim().parse()?))
}

/// Returns a server with one well-behaved tool.
fn honest() -> Server<()> {
    let echo = Tool::new("echo")
        .description("Says what it is told")
        .input::<hostile_client::Said>()
        .handler(async |said| Ok(said.message));
    Server::new("honest", "1.0.0").tool(echo)
}
