//! Clients on rmcp: as its examples show it, and with its pool mended.

use rmcp::{
    Peer, RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation},
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Map, Value};

use super::{
    TEXT,
    call::{Caller, Load},
};
use crate::Failure;

/// Connects, and makes the calls, as the examples of rmcp do.
pub(super) async fn as_shown(load: &Load) -> Result<(), Failure> {
    provide_cryptography();
    let transport = StreamableHttpClientTransport::from_uri(&*load.url);
    let client = info().serve(transport).await;
    let client = client.map_err(|error| error.to_string())?;
    let peer = Rmcp(client.peer().clone());
    load.measure(vec![peer; load.width]).await?;
    client.cancel().await.map_err(|error| error.to_string())?;
    Ok(())
}

/// The same with connections that are used again, and as many calls at once as
/// are made. It shakes hands as shown: to discover the server, and to speak
/// 2026-07-28 with it, costs it about a third more for each call.
pub(super) async fn tuned(load: &Load) -> Result<(), Failure> {
    provide_cryptography();
    let http = reqwest::Client::builder()
        .pool_max_idle_per_host(usize::MAX)
        .tcp_nodelay(true)
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(&*load.url)
        .max_concurrent_requests(load.width);
    let transport = StreamableHttpClientTransport::with_client(http, config);
    let client = info().serve(transport).await;
    let client = client.map_err(|error| error.to_string())?;
    let peer = Rmcp(client.peer().clone());
    load.measure(vec![peer; load.width]).await?;
    client.cancel().await.map_err(|error| error.to_string())?;
    Ok(())
}

/// reqwest wants to know whose, even for what is not encrypted: our client has
/// it built without a default.
fn provide_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn info() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("bench", "1.0.0"),
    )
}

#[derive(Clone)]
struct Rmcp(Peer<RoleClient>);

impl Caller for Rmcp {
    async fn call(&mut self) -> Result<usize, Failure> {
        let mut arguments = Map::new();
        arguments.insert("message".to_owned(), Value::from(TEXT));
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = self.0.call_tool(params).await;
        let result = result.map_err(|error| error.to_string())?;
        let text = result.content.first().and_then(|block| block.as_text());
        Ok(text.map_or(0, |text| text.text.len()))
    }
}
