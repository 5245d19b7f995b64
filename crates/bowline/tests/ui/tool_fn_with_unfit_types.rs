//! Arguments and results of types that are not made for it.

#![expect(unused_variables, reason = "only the signatures matter here")]

use std::rc::Rc;

use bowline::server::{Conversation, Json, Result, Tool, tool};

struct Forecast {
    rain: bool,
}

struct App;
struct Other;

#[derive(Debug)]
struct Broken;

/// An argument that cannot be read.
#[tool]
async fn argument(forecast: Forecast) -> Result<()> {
    Ok(())
}

/// An input that cannot be read.
#[tool]
async fn input(#[input] forecast: Forecast) -> Result<()> {
    Ok(())
}

/// A result that cannot be sent.
#[tool]
async fn output() -> Result<Forecast> {
    Ok(Forecast { rain: true })
}

/// A result that is not a `Result`.
#[tool]
async fn no_result() -> String {
    String::from("rain")
}

/// A result with an error of its own.
#[tool]
async fn other_error() -> std::result::Result<String, Broken> {
    Ok(String::from("rain"))
}

/// JSON without a schema.
#[tool]
async fn json() -> Result<Json<Forecast>> {
    Ok(Json(Forecast { rain: true }))
}

/// Work that cannot move between threads.
#[tool]
async fn stays(cx: Conversation) -> Result<String> {
    let text = Rc::new(String::from("Sure?"));
    cx.confirm(text.as_str()).await?;
    Ok(text.to_string())
}

/// For servers with another state.
#[tool]
async fn state(cx: Conversation<App>) -> Result<()> {
    cx.confirm("Sure?").await
}

fn other() -> Tool<Other> {
    state::tool()
}

fn main() {}
