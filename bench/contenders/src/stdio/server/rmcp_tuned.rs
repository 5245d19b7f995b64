//! A server on rmcp, with everything set as is best for it: a router that is
//! made once, pipes that do not block and are as large as ours makes them,
//! large reads, one thread.

use rmcp::{
    ServerHandler, ServiceExt as _,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    tool, tool_handler, tool_router,
    transport::stdio_pipes,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::BufReader;

use super::super::pipes;
use crate::Failure;

/// Its own buffer has 8 KiB. What is read into a larger one before it takes
/// fewer reads.
const READ_BYTES: usize = 256 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

struct Echo {
    router: ToolRouter<Self>,
}

#[tool_router]
impl Echo {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(Say { text }): Parameters<Say>) -> String {
        text
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Echo {}

/// On the runtime that is faster for it.
pub(super) async fn serve() -> Result<(), Failure> {
    pipes::enlarge();
    let (input, output) = stdio_pipes();
    let input = BufReader::with_capacity(READ_BYTES, input);
    let echo = Echo {
        router: Echo::tool_router(),
    };
    let service = echo.serve((input, output)).await;
    let service = service.map_err(|error| error.to_string())?;
    service.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}
