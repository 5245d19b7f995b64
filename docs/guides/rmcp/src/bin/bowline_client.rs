//! A client, with Bowline.

use std::time::Duration;

use bowline::{Client, transport::ChildProcess};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = ChildProcess::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
    let client = Client::builder().connect(server).await?;

    for tool in client.tools().list().await? {
        println!("{}", tool.name);
    }
    let result = client
        .tools()
        .call("echo", json!({"message": "hi"}))
        .await?;
    println!("{}", result.all_text());

    client.stop_and_wait(Duration::from_secs(5)).await;
    Ok(())
}
