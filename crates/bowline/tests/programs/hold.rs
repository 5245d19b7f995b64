//! Connects to a server, prints that it did, and holds the connection until
//! killed.
//!
//! `cargo run -p bowline --example hold -- <command> [arguments…]`

#![expect(clippy::print_stdout, reason = "prints when it is connected")]

use bowline::{Client, transport::ChildProcess};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1);
    let command = words.next().ok_or("usage: hold <command> [arguments…]")?;
    let server = ChildProcess::new(command).args(words);
    let client = Client::builder().connect(server).await?;
    println!("connected");
    let mut health = client.watch_health();
    health.wait_for(|health| health.ended).await?;
    Ok(())
}
