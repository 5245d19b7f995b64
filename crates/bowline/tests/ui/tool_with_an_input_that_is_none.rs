//! An input is read, and its schema is published.

use bowline::server::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

struct Neither {
    city: String,
}

#[derive(Deserialize)]
struct WithoutSchema {
    city: String,
}

#[derive(JsonSchema)]
struct WithoutReading {
    city: String,
}

fn neither() {
    let _draft = Tool::new("weather").input::<Neither>();
}

fn without_schema() {
    let _draft = Tool::new("weather").input::<WithoutSchema>();
}

fn without_reading() {
    let _draft = Tool::new("weather").input::<WithoutReading>();
}

fn main() {}
