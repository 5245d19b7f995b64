//! A server on rmcp, as its documentation shows it.

use rmcp::{
    ServerHandler, ServiceExt as _, handler::server::wrapper::Parameters, tool, tool_handler,
    tool_router, transport::stdio,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

struct Echo;

#[tool_router]
impl Echo {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(Say { text }): Parameters<Say>) -> String {
        text
    }
}

#[tool_handler]
impl ServerHandler for Echo {}

/// With the standard streams of tokio, and a router that the macros make.
pub(super) async fn serve() -> Result<(), Failure> {
    let service = Echo
        .serve(stdio())
        .await
        .map_err(|error| error.to_string())?;
    service.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}
