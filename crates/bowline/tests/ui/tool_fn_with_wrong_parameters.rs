//! Parameters that cannot be arguments.

#![expect(unused_variables, reason = "only the signatures matter here")]

use bowline::server::{Conversation, Result, HandlerContext, tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

/// The context is in front.
#[tool]
async fn context_first(cx: Conversation, city: String) -> Result<String> {
    Ok(city)
}

/// Two contexts.
#[tool]
async fn two_contexts(cx: HandlerContext, other: Conversation) -> Result<()> {
    Ok(())
}

/// The context is borrowed.
#[tool]
async fn borrowed_context(cx: &Conversation) -> Result<()> {
    Ok(())
}

/// The context is described.
#[tool]
async fn described_context(
    /// Nobody sees this.
    cx: Conversation,
) -> Result<()> {
    Ok(())
}

/// The input is not all.
#[tool]
async fn input_and_more(#[input] place: Place, days: u32) -> Result<()> {
    Ok(())
}

/// The input is not all, the other way round.
#[tool]
async fn more_and_input(days: u32, #[input] place: Place) -> Result<()> {
    Ok(())
}

/// The input is described outside of its struct.
#[tool]
async fn described_input(
    /// Where to.
    #[input]
    place: Place,
) -> Result<()> {
    Ok(())
}

/// Patterns have no names.
#[tool]
async fn patterns(Place { city }: Place, (a, b): (u32, u32), _: u32) -> Result<()> {
    Ok(())
}

/// Borrowed arguments.
#[tool]
async fn borrowed(city: &str, more: Option<&'static str>) -> Result<()> {
    Ok(())
}

/// Attributes of others.
#[tool]
async fn attributes(#[arg] city: String, #[header] region: String) -> Result<()> {
    Ok(())
}

fn main() {}
