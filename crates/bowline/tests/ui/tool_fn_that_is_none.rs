//! `#[tool]` stands on an async function that stands alone.

#![expect(unused_variables, reason = "only the signatures matter here")]

use bowline::server::{Result, tool};

/// Not a function.
#[tool]
struct Weather;

/// Not async.
#[tool]
fn not_async() -> Result<&'static str> {
    Ok("rain")
}

/// Says nothing.
#[tool]
async fn says_nothing() {}

/// Generic.
#[tool]
async fn generic<T>(value: T) -> Result<&'static str> {
    Ok("rain")
}

/// Generic as well.
#[tool]
async fn also_generic(value: impl Into<String>) -> Result<String> {
    Ok(value.into())
}

#[tool]
async fn undescribed() -> Result<&'static str> {
    Ok("rain")
}

/// A name that not everybody can write.
#[tool]
async fn größe() -> Result<&'static str> {
    Ok("1 m")
}

/// A name that is none.
#[tool(name = "tell the weather")]
async fn weather() -> Result<&'static str> {
    Ok("rain")
}

struct Station;

impl Station {
    /// A method.
    #[tool]
    async fn method(&self, city: String) -> Result<String> {
        Ok(city)
    }
}

// What uses them is not to blame.
fn all() -> Vec<bowline::server::Tool> {
    vec![not_async::tool(), undescribed::tool(), weather::tool()]
}

fn main() {}
