//! A server on standard input and output, with two tools.
//!
//! ```sh
//! cargo run -p bowline-cli -- list -- cargo run -q -p bowline --example server --features macros
//! ```

use bowline::server::{Json, Result, Server, tool};
use serde::Serialize;

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: f64, b: f64) -> Result<String> {
    Ok((a + b).to_string())
}

#[derive(Serialize, schemars::JsonSchema)]
struct Statistics {
    characters: usize,
    words: usize,
    lines: usize,
}

/// Counts the characters, words and lines of a text.
#[tool(read_only)]
async fn count(text: String) -> Result<Json<Statistics>> {
    Ok(Json(Statistics {
        characters: text.chars().count(),
        words: text.split_whitespace().count(),
        lines: text.lines().count(),
    }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("example-server", "1.0.0");
    server
        .tool(add::tool())
        .tool(count::tool())
        .serve_stdio()
        .await?;
    Ok(())
}
