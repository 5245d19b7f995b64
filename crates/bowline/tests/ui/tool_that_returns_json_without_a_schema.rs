//! Structured content has a schema.

use bowline::server::{Json, Tool};
use serde::Serialize;

#[derive(Serialize)]
struct Forecast {
    rain: bool,
}

fn weather() -> Tool {
    Tool::new("weather")
        .description("Tells the weather")
        .no_input()
        .handler(async |_| Ok(Json(Forecast { rain: true })))
}

fn main() {}
