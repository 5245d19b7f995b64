//! Only the second phase may ask.

use bowline::server::{Conversation, HandlerContext, Tool};

fn by_type() {
    let _handoff = Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .before(async |_, cx: Conversation| {
            cx.confirm("Shall I?").await?;
            Ok(1)
        })
        .ask(async |_, cx: Conversation| cx.confirm("Really?").await);
}

fn by_method() {
    let _handoff = Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .before(async |_, cx: HandlerContext| {
            cx.confirm("Shall I?").await?;
            Ok(1)
        })
        .ask(async |_, cx: Conversation| cx.confirm("Really?").await);
}

fn main() {}
