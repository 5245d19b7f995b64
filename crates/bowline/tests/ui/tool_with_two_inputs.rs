//! All arguments stand in one struct.

use bowline::server::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

fn weather() -> Tool {
    Tool::new("weather")
        .description("Tells the weather")
        .input::<Place>()
        .no_input()
        .handler(async |_| Ok("rain"))
}

fn main() {}
