//! Our server, as the guide on HTTP shows it.

use bowline::server::{HandlerContext, Result, Server, Service, Tool, http::HttpOptions, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::Failure;

/// Serves for ever.
pub(super) async fn serve(listener: TcpListener) -> std::result::Result<(), Failure> {
    let service = service()?;
    let http = service.http(HttpOptions::default());
    http.serve(listener)
        .await
        .map_err(|error| error.to_string())
}

fn service() -> std::result::Result<Service, Failure> {
    let echo = Tool::new("echo")
        .description("Says it again")
        .input::<Say>()
        .handler(async |say| Ok(say.message));
    let server = Server::new("bench", "1.0.0").tool(echo).tool(tell::tool());
    server.build().map_err(|error| error.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

/// Says how far it is, then says it again
#[tool]
async fn tell(message: String, cx: HandlerContext) -> Result<String> {
    cx.progress(1.0, 2.0);
    Ok(message)
}
