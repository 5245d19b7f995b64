//! What the first phase returns is carried as JSON.

use bowline::server::{HandlerContext, Tool};

struct Flights {
    found: Vec<String>,
}

fn book() {
    let _handoff = Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .before(async |_, _: HandlerContext| Ok(Flights { found: Vec::new() }));
}

fn main() {}
