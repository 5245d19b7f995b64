//! A tool says what it is given, even if that is nothing.

use bowline::server::{Conversation, Tool};

fn headless() -> Tool {
    Tool::new("hello")
        .description("Says hello")
        .headless(async |_| Ok("Hello!"))
}

fn execute() -> Tool {
    Tool::new("hello")
        .description("Says hello")
        .execute(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok("Hello!")
        })
}

fn main() {}
