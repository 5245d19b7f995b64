//! Our client, as the guide on remote servers shows it.

use bowline::{Client, transport::Http};
use serde_json::json;

use super::{
    TEXT,
    call::{Caller, Load},
};
use crate::Failure;

/// Connects, and makes the calls.
pub(super) async fn run(load: &Load) -> Result<(), Failure> {
    let server = Http::new(&load.url).map_err(|error| error.to_string())?;
    let client = Client::builder()
        .client_info("bench", "1.0.0")
        .connect(server)
        .await;
    let client = Ours(client.map_err(|error| error.to_string())?);
    load.measure(vec![client.clone(); load.width]).await?;
    client.0.stop().await;
    Ok(())
}

#[derive(Clone)]
struct Ours(Client);

impl Caller for Ours {
    async fn call(&mut self) -> Result<usize, Failure> {
        let result = self.0.tools().call("echo", json!({"message": TEXT})).await;
        let result = result.map_err(|error| error.to_string())?;
        let text = result.content.first().and_then(|block| block.as_text());
        Ok(text.map_or(0, str::len))
    }
}
