//! A tool says what it is given, even if that is nothing.

use bowline::server::{Conversation, Tool};

fn handler() -> Tool {
    Tool::new("hello")
        .description("Says hello")
        .handler(async |_| Ok("Hello!"))
}

fn handler_with_conversation() -> Tool {
    Tool::new("hello")
        .description("Says hello")
        .handler_with_conversation(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok("Hello!")
        })
}

fn main() {}
