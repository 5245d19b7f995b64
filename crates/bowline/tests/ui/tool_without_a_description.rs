//! Models choose tools by their descriptions.

use bowline::server::{Conversation, Tool};

fn headless() -> Tool {
    Tool::new("hello")
        .no_input()
        .headless(async |_| Ok("Hello!"))
}

fn execute() -> Tool {
    Tool::new("hello")
        .no_input()
        .execute(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok("Hello!")
        })
}

fn handoff() {
    let _unfinished = Tool::new("hello").no_input().handoff();
}

fn main() {}
