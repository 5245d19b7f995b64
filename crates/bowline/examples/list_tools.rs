//! Starts a server, prints its name, and lists its tools.
//!
//! ```sh
//! cargo run -p bowline --example list_tools -- <command> [args…]
//! ```
//!
//! It exits with 1 if the connection fails, and with 2 if the command is
//! missing.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program"
)]

use std::{ffi::OsString, process::ExitCode, time::Duration};

use bowline::{
    Client, Error, Reason,
    model::Tool,
    transport::{ChildProcess, Transport as _},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(command) = words.next() else {
        eprintln!("usage: list_tools <command> [args…]");
        return ExitCode::from(2);
    };
    let server = ChildProcess::new(command).args(words.collect::<Vec<OsString>>());
    let line = server.describe();
    match list(server).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{line}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn list(server: ChildProcess) -> Result<(), Error> {
    let client = Client::builder()
        .client_info("list_tools", env!("CARGO_PKG_VERSION"))
        // Commands such as npx may have to download the server first.
        .connect_timeout(Duration::from_secs(120))
        .connect(server)
        .await?;
    introduce(&client);
    let tools = match client.tools().list().await {
        // Some servers have resources or prompts only.
        Err(error) if error.reason() == Reason::CapabilityNotSupported => Vec::new(),
        listed => listed?,
    };
    let noun = if tools.len() == 1 { "tool" } else { "tools" };
    println!("{} {noun}", tools.len());
    for tool in &tools {
        println!("  {}", line(tool));
    }
    client.stop_and_wait(Duration::from_secs(5)).await;
    Ok(())
}

fn introduce(client: &Client) {
    let Some(server) = client.server_info() else {
        return;
    };
    let (name, version) = match &server.info {
        Some(info) => (info.name.as_str(), info.version.as_str()),
        None => ("unnamed server", ""),
    };
    println!("{name} {version} (protocol {})", server.revision.as_str());
}

/// Returns the tool's name and the first line of its description.
fn line(tool: &Tool) -> String {
    let description = tool.description.as_deref().unwrap_or_default();
    match description.trim().lines().next() {
        Some(first) => format!("{}: {first}", tool.name),
        None => tool.name.clone(),
    }
}
