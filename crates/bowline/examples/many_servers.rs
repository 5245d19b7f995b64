//! Several servers in one registry: their tools have names that cannot
//! collide, and one that is down keeps nobody from using the others.
//!
//! ```sh
//! cargo run -p bowline --example many_servers --features server
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::time::Duration;

use bowline::{
    Client,
    registry::Registry,
    server::{Server, Service, Tool},
    transport::ChildProcess,
};
use serde_json::json;

/// A server with one tool. Most programs have child processes or URLs here.
fn server(name: &'static str) -> Result<Service, Box<dyn std::error::Error>> {
    let search = Tool::new("search")
        .description("Searches")
        .no_input()
        .handler(move |_| async move { Ok(format!("found in {name}")) });
    Ok(Server::new(name, "1.0.0").tool(search).build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new();
    for name in ["notes", "mail"] {
        let service = server(name)?;
        registry.add(name, move |_| {
            Client::builder().connect_in_background(service.in_memory())
        })?;
    }
    registry.add("broken", |_| {
        Client::builder().connect_in_background(ChildProcess::new("no-such-server"))
    })?;

    let catalog = registry.tools().await;
    for tool in &catalog.tools {
        println!("{}", tool.name);
    }
    for (server, error) in &catalog.unavailable {
        println!("{server}: {error:#}");
    }
    let result = registry.call("mail__search", json!({})).await?;
    println!("{}", result.all_text());
    registry.stop_all_and_wait(Duration::from_secs(5)).await;
    Ok(())
}
