//! What a tool returns is sent to the client.

use bowline::server::{Conversation, Tool};

struct Forecast {
    rain: bool,
}

fn no_output() -> Tool {
    Tool::new("weather")
        .description("Tells the weather")
        .no_input()
        .handler(async |_| Ok(Forecast { rain: true }))
}

fn a_number() -> Tool {
    Tool::new("weather")
        .description("Tells the weather")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok(21)
        })
}

fn no_result() -> Tool {
    Tool::new("weather")
        .description("Tells the weather")
        .no_input()
        .handler(async |_| "rain")
}

fn main() {}
