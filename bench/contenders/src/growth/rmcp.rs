//! The same server on rmcp: as its documentation shows it, and tuned.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        wrapper::Parameters,
    },
    model::{ListToolsResult, PaginatedRequestParams, Tool},
    service::RequestContext,
    tool_handler,
};
use tokio::io::DuplexStream;

use super::ours::{Order, description, name};
use crate::Failure;

/// Serves so many tools at this end of a pipe, as the documentation shows it.
pub(crate) async fn serve(tools: usize, end: DuplexStream) -> Result<(), Failure> {
    let shops = Shops {
        tool_router: routes(tools),
    };
    let running = shops.serve(end).await.map_err(|error| error.to_string())?;
    running.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}

/// As [`serve`], with the list in order beforehand.
pub(crate) async fn serve_tuned(tools: usize, end: DuplexStream) -> Result<(), Failure> {
    let tool_router = routes(tools);
    let shops = TunedShops {
        tools: tool_router.list_all(),
        tool_router,
    };
    let shops = Arc::new(shops);
    let running = shops.serve(end).await.map_err(|error| error.to_string())?;
    running.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}

#[derive(Clone)]
struct Shops {
    tool_router: ToolRouter<Self>,
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Shops {}

struct TunedShops {
    tool_router: ToolRouter<Self>,
    tools: Vec<Tool>,
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for TunedShops {
    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }
}

fn routes<S: Send + Sync + 'static>(tools: usize) -> ToolRouter<S> {
    let routes = (0..tools).map(|number| {
        let tool = Tool::new(name(number), description(number), Arc::default());
        ToolRoute::new(tool.with_input_schema::<Order>(), ordered::<S>)
    });
    routes.fold(ToolRouter::new(), ToolRouter::with_route)
}

fn ordered<S>(_: &S, Parameters(order): Parameters<Order>) -> String {
    order.text
}
