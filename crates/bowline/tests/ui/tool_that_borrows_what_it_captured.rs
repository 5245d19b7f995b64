//! A tool outlives the call that made it, and so do its futures.

use std::sync::Arc;

use bowline::server::{Conversation, HandlerContext, Tool};

fn borrows_a_local() -> Tool {
    let greeting = String::from("Hello!");
    Tool::new("hello")
        .description("Says hello")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok(greeting.clone())
        })
}

fn borrows_what_it_owns() -> Tool {
    let greeting = Arc::new(String::from("Hello!"));
    Tool::new("hello")
        .description("Says hello")
        .no_input()
        .handler(async move |_| Ok(greeting.to_string()))
}

fn borrows_in_a_phase() {
    let greeting = Arc::new(String::from("Hello!"));
    let _tool = Tool::new("hello")
        .description("Says hello")
        .no_input()
        .phases()
        .before(async |_, _: HandlerContext| Ok(1))
        .ask(async |_, cx| cx.confirm("Shall I?").await)
        .after(async move |_, _, _| Ok(greeting.to_string()));
}

fn main() {}
