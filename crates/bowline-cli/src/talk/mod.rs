//! The other direction: what servers ask of people and models.

use bowline::{Client, client::ClientBuilder, proto::model::CallToolResult};
use serde_json::Value;

use crate::{context::Context, failure::Failure};

/// Declares what this terminal, or its absence, can answer.
pub(crate) fn offer(builder: ClientBuilder, _cx: &Context) -> ClientBuilder {
    builder
}

/// How a call ended.
pub(crate) enum Ended {
    /// With a result.
    Done(Box<CallToolResult>),
    /// With questions that nobody here could answer: it goes on with
    /// `bowline resume`.
    Parked(String),
}

/// Calls a tool, and sees to what it asks meanwhile.
pub(crate) async fn call(
    _cx: &Context,
    client: &Client,
    tool: &str,
    arguments: Value,
) -> Result<Ended, Failure> {
    let result = client.tools().call(tool, arguments).await?;
    Ok(Ended::Done(Box::new(result)))
}
