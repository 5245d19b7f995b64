//! Asking a server what it offers.

use bowline::{Client, Error, lock::LockedServer};

use crate::{failure::Failure, fleet::is_unsupported};

/// Returns what a server offers now.
pub(crate) async fn collect(client: Client) -> Result<LockedServer, Failure> {
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

/// Treats an unsupported list as empty.
pub(crate) fn or_empty<T>(listed: Result<Vec<T>, Error>) -> Result<Vec<T>, Failure> {
    match listed {
        Err(error) if is_unsupported(&error) => Ok(Vec::new()),
        listed => Ok(listed?),
    }
}
