//! A minimal server over stdio, as the guides show it.

use bowline::server::{Result, Server, tool};

/// Says it again
#[tool]
async fn echo(message: String) -> Result<String> {
    Ok(message)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    Server::new("echo", "1.0.0")
        .tool(echo::tool())
        .serve_stdio()
        .await
}
