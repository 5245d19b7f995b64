//! Options that do not exist, or not like this.

use bowline::server::{Result, tool};

/// Unknown.
#[tool(readonly, requires(elicit), limits(seconds = 5))]
async fn unknown() -> Result<()> {
    Ok(())
}

/// Of another shape.
#[tool(name, title = 5, read_only = false, destructive, open_world = "no", requires, limits())]
async fn shapes() -> Result<()> {
    Ok(())
}

/// Given twice.
#[tool(idempotent, idempotent, limits(max_questions = 1, max_questions = 2))]
async fn twice() -> Result<()> {
    Ok(())
}

/// Of another type.
#[tool(limits(max_questions = "many"), elicits(String))]
async fn types() -> Result<()> {
    Ok(())
}

fn main() {}
