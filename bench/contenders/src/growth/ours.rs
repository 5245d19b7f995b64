//! Our server, with as many tools as one likes.

use bowline::server::{Server, Service, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;

/// What a tool takes: four properties.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Order {
    /// What is wanted, in words.
    pub(crate) text: String,
    /// How many.
    #[expect(dead_code, reason = "only decoded")]
    count: u32,
    /// Whether somebody waits for it.
    #[expect(dead_code, reason = "only decoded")]
    urgent: Option<bool>,
    /// Anything else that one should know.
    #[expect(dead_code, reason = "only decoded")]
    note: Option<String>,
}

/// The name of a tool.
pub(crate) fn name(number: usize) -> String {
    format!("order_from_shop_{number}")
}

/// What a tool says of itself: 100 bytes.
pub(crate) fn description(number: usize) -> String {
    format!(
        "{:.<100}",
        format!("Orders something from shop number {number}, and says what was ordered")
    )
}

/// A server with default settings and so many tools.
pub(crate) fn service(tools: usize) -> Result<Service, Failure> {
    let tools = (0..tools).map(|number| {
        Tool::new(name(number))
            .description(description(number))
            .input::<Order>()
            .handler(async |order| Ok(order.text))
    });
    let server = Server::new("shops", "1.0.0").tools(tools);
    server.build().map_err(|error| error.to_string())
}
