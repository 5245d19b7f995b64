//! Our server, as the README and the guide show it.

use bowline::server::{Result, Server, Tool, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;

/// Says it again
#[tool]
async fn echo(text: String) -> Result<String> {
    Ok(text)
}

/// With a function for a tool, as in the README.
pub(super) async fn serve() -> std::result::Result<(), Failure> {
    let server = Server::new("bench", "1.0.0").tool(echo::tool());
    let served = server.serve_stdio().await;
    served.map_err(|error| error.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

/// With a tool that is built, as in the guide to servers.
pub(super) async fn serve_built() -> std::result::Result<(), Failure> {
    let echo = Tool::new("echo")
        .description("Says it again")
        .input::<Say>()
        .handler(async |say: Say| Ok(say.text));
    let server = Server::new("bench", "1.0.0").tool(echo);
    let served = server.serve_stdio().await;
    served.map_err(|error| error.to_string())
}
