//! A server and a client, over stdio and HTTP, as the guides show them:
//! `serve`, `serve <address>`, `call <url>`, `call <program>`.

use bowline::{
    Client,
    server::{Result, Server, tool},
    transport::{ChildProcess, Http},
};
use serde_json::json;

/// Says it again
#[tool]
async fn echo(message: String) -> Result<String> {
    Ok(message)
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::new("echo", "1.0.0").tool(echo::tool());
    match arguments[..] {
        ["serve"] => server.serve_stdio().await?,
        ["serve", address] => server.serve_http(address).await?,
        ["call", url] if url.starts_with("http") => {
            call(Client::builder().connect(Http::new(url)?).await?).await?;
        }
        ["call", program] => {
            let server = ChildProcess::new(program).args(["serve"]);
            call(Client::builder().connect(server).await?).await?;
        }
        _ => return Err("serve [address], or call <url or program>".into()),
    }
    Ok(())
}

async fn call(client: Client) -> std::result::Result<(), bowline::Error> {
    let result = client
        .tools()
        .call("echo", json!({"message": "hi"}))
        .await?;
    println!("{}", result.all_text());
    client.stop().await;
    Ok(())
}
