//! A client on rmcp, as its documentation shows it.

use std::sync::Arc;

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient,
    model::{CallToolRequestParams, CallToolResult, ClientConfig, ProtocolVersion},
    service::RunningService,
    transport::{IntoTransport, TokioChildProcess},
};

use super::super::{arguments::Era, start::Start, tasks::Caller};
use crate::Failure;

/// A client that runs.
pub(super) type Running = Arc<RunningService<RoleClient, ClientConfig>>;

/// The client, shared by the tasks that call.
#[derive(Clone)]
pub(super) struct Shown(Running);

/// Connects to the server that it starts.
pub(super) async fn connect(start: &Start, era: Era) -> Result<Shown, Failure> {
    let command = tokio::process::Command::from(start.command());
    let child = TokioChildProcess::new(command).map_err(|error| error.to_string())?;
    open(child, era).await.map(Shown)
}

/// Opens a session of this era.
pub(super) async fn open<T, E, A>(transport: T, era: Era) -> Result<Running, Failure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let (version, lifecycle) = match era {
        Era::Handshake => (
            ProtocolVersion::V_2025_11_25,
            ClientLifecycleMode::Initialize,
        ),
        Era::Stateless => (
            ProtocolVersion::V_2026_07_28,
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        ),
    };
    let config = ClientConfig::default().with_protocol_version(version.clone());
    let client = config.serve_with_lifecycle(transport, lifecycle).await;
    let client = client.map_err(|error| error.to_string())?;
    let spoken = client.peer_info().map(|info| info.protocol_version.clone());
    match spoken {
        Some(spoken) if spoken == version => Ok(Arc::new(client)),
        other => Err(format!("{other:?} is spoken, not {version}")),
    }
}

/// The arguments of the tool.
pub(super) fn call(text: &str) -> CallToolRequestParams {
    let arguments = rmcp::object!({"text": text});
    CallToolRequestParams::new("echo").with_arguments(arguments)
}

/// How long the text is that came back.
pub(super) fn length(result: &CallToolResult) -> Option<usize> {
    let first = result.content.first()?.as_text()?;
    Some(first.text.len())
}

/// Ends the session. Nobody else has the client when this is called.
pub(super) async fn cancel(client: Running) {
    if let Some(client) = Arc::into_inner(client) {
        // How it ended does not matter any more.
        let _ = client.cancel().await;
    }
}

impl Caller for Shown {
    async fn echo(&self, text: &Arc<str>) -> Result<Option<usize>, Failure> {
        let result = self.0.call_tool(call(text)).await;
        Ok(length(&result.map_err(|error| error.to_string())?))
    }

    async fn stop(self) {
        cancel(self.0).await;
    }
}
