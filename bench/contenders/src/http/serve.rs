//! `http serve`: one server, until its standard input closes.

use std::io::{Read as _, Write as _};

use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
};

use super::{Who, limit_server, ours_server, rmcp_server};
use crate::Failure;

/// Serves until standard input closes.
pub(super) fn run(who: Who) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let mut out = std::io::stdout();
        writeln!(out, "{address}").map_err(|error| error.to_string())?;
        std::thread::spawn(end_with_input);
        match who {
            Who::Ours => ours_server::serve(listener).await,
            Who::Rmcp => rmcp_server::as_shown(listener).await,
            Who::RmcpTuned => rmcp_server::tuned(listener).await,
            Who::Limit => limit_server::serve(listener).await,
        }
    })
}

/// What `#[tokio::main]` makes.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let mut builder = Builder::new_multi_thread();
    builder
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}

/// Whoever measures is done, or gone.
fn end_with_input() {
    let mut ignored = [0; 64];
    while let Ok(1..) = std::io::stdin().read(&mut ignored) {}
    std::process::exit(0);
}
