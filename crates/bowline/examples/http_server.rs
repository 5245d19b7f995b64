//! A server over HTTP, and a client that calls it.
//!
//! ```sh
//! cargo run -p bowline --example http_server --features http-client,http-server
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::time::Duration;

use bowline::{
    Client,
    server::{Server, Tool, http::HttpOptions},
    transport::Http,
};
use serde_json::json;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hello = Tool::new("hello")
        .description("Says hello")
        .no_input()
        .handler(async |_| Ok("Hello over HTTP!"));
    let service = Server::new("greeter", "1.0.0").tool(hello).build()?;

    // Only programs on this machine can connect to the loopback interface.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let http = service.http(HttpOptions::default());
    let serving = tokio::spawn({
        let http = http.clone();
        async move { http.serve(listener).await }
    });

    let client = Client::builder().connect(Http::new(&url)?).await?;
    let result = client.tools().call("hello", json!({})).await?;
    println!("{}", result.all_text());

    // Ends the session at the server, and then the server.
    client.stop_and_wait(Duration::from_secs(5)).await;
    http.stop(Duration::from_secs(5));
    serving.await??;
    Ok(())
}
