//! Models choose tools by their descriptions.

use bowline::server::{Conversation, Tool};

fn handler() -> Tool {
    Tool::new("hello")
        .no_input()
        .handler(async |_| Ok("Hello!"))
}

fn handler_with_conversation() -> Tool {
    Tool::new("hello")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok("Hello!")
        })
}

fn in_phases() {
    let _unfinished = Tool::new("hello").no_input().phases();
}

fn main() {}
