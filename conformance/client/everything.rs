//! Using all that a server offers.

use bowline::Client;
use serde_json::json;

use crate::Result;

/// Lists everything, calls every tool, reads every resource and gets every
/// prompt.
pub async fn use_all(client: &Client) -> Result<()> {
    for tool in client.tools().list().await? {
        client.tools().call(&tool.name, json!({})).await?;
    }
    for resource in client.resources().list().await? {
        client.resources().read(&resource.uri).await?;
    }
    for prompt in client.prompts().list().await? {
        let none: [(&str, &str); 0] = [];
        client.prompts().get(&prompt.name, none).await?;
    }
    Ok(())
}
