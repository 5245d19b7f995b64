//! A minimal server over stdio on rmcp, as its documentation shows it.

use rmcp::{
    ServiceExt as _, handler::server::wrapper::Parameters, tool, tool_router, transport::stdio,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Say {
    message: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router(server_handler)]
impl Echo {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(Say { message }): Parameters<Say>) -> String {
        message
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Echo.serve(stdio()).await?.waiting().await?;
    Ok(())
}
