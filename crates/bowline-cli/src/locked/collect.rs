//! Asking servers what they offer.

use std::time::Duration;

use bowline::{Client, lock::LockedServer};

use crate::{
    context::Context,
    failure::Failure,
    fleet::{or_empty, run_on_all},
    output::escape_control,
    target::{Target, interruptible},
};

/// Default time in which a server must list everything. Some are downloaded first.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns what servers offer now, in the order of the servers. Fails if one of them
/// does: without it, its tools would seem to be gone.
pub(crate) async fn collect(
    cx: &Context,
    targets: &[Target],
) -> Result<Vec<LockedServer>, Failure> {
    let timeout = cx.timeout().unwrap_or(DEFAULT_TIMEOUT);
    let results = async { Ok(run_on_all(cx, targets, timeout, collect_one).await) };
    let results = interruptible(results).await?.into_iter();
    let results = results.map(|server| {
        let prefix = escape_control(&server.name);
        server
            .result
            .map_err(|failure| failure.with_prefix(&prefix))
    });
    results.collect()
}

async fn collect_one(client: Client) -> Result<LockedServer, Failure> {
    let (tools, prompts, resources, templates) = tokio::join!(
        client.tools().list(),
        client.prompts().list(),
        client.resources().list(),
        client.resources().templates(),
    );
    let info = client.server_info();
    let identity = info.as_ref().and_then(|info| info.info.as_ref());
    let instructions = info.as_ref().and_then(|info| info.instructions.as_deref());
    let server = LockedServer::default()
        .with_identity(identity, instructions)
        .with_prompts(&or_empty(prompts)?)
        .with_resources(&or_empty(resources)?)
        .with_resource_templates(&or_empty(templates)?)
        .with_tools(&or_empty(tools)?);
    server.map_err(|error| Failure::failed(error.to_string()))
}
