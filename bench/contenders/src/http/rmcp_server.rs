//! Servers on rmcp: as its examples show it, and with everything set as is best
//! for it.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use axum::{Router, serve::ListenerExt as _};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{
        CallToolResult, ContentBlock, ProgressNotificationParam, ServerCapabilities, ServerConfig,
        SubscriptionFilter,
    },
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

use super::PATH;
use crate::Failure;

/// Serves for ever, as the examples of rmcp do.
pub(super) async fn as_shown(listener: TcpListener) -> Result<(), Failure> {
    let service = StreamableHttpService::new(
        || Ok(Shown),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let router = Router::new().nest_service(PATH, service);
    let served = axum::serve(listener, router).await;
    served.map_err(|error| error.to_string())
}

/// Serves for ever, with a router that is built once, JSON where one answer is
/// all, nothing kept of streams that ended, and sockets that do not wait.
pub(super) async fn tuned(listener: TcpListener) -> Result<(), Failure> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.sse_retry = None;
    sessions.session_config.completed_cache_ttl = Duration::ZERO;
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_sse_retry(None);
    let service = StreamableHttpService::new(|| Ok(Tuned), Arc::new(sessions), config);
    let router = Router::new().route_service(PATH, service);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let served = axum::serve(listener, router).await;
    served.map_err(|error| error.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

/// What both say of themselves.
fn info() -> ServerConfig {
    let capabilities = ServerCapabilities::builder();
    ServerConfig::new(
        capabilities
            .enable_tools()
            .enable_tool_list_changed()
            .build(),
    )
}

/// Says how far it is, if the client asked for that.
async fn told(say: Say, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, 1.0).with_total(2.0);
        let sent = context.peer.notify_progress(progress).await;
        sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(
        say.message,
    )]))
}

/// The server, as shown.
#[derive(Clone)]
struct Shown;

#[tool_router]
impl Shown {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(say): Parameters<Say>) -> String {
        say.message
    }

    #[tool(description = "Says how far it is, then says it again")]
    async fn tell(
        &self,
        Parameters(say): Parameters<Say>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        told(say, context).await
    }
}

#[tool_handler]
impl ServerHandler for Shown {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

/// The server, tuned.
#[derive(Clone)]
struct Tuned;

/// Built once; the default builds one for every request.
static ROUTER: LazyLock<ToolRouter<Tuned>> = LazyLock::new(Tuned::tool_router);

#[tool_router]
impl Tuned {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(say): Parameters<Say>) -> String {
        say.message
    }

    #[tool(description = "Says how far it is, then says it again")]
    async fn tell(
        &self,
        Parameters(say): Parameters<Say>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        told(say, context).await
    }
}

#[tool_handler(router = ROUTER)]
impl ServerHandler for Tuned {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}
