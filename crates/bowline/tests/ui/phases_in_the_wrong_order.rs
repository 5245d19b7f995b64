//! Before, client, after: in this order.

use bowline::server::{Conversation, HandlerContext, Tool};

fn after_without_client() {
    let _tool = Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .before(async |_, _: HandlerContext| Ok(1))
        .after(async |_, _, _| Ok("done"));
}

fn client_without_before() {
    let _tool = Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .ask(async |_, cx: Conversation| cx.confirm("Shall I?").await);
}

fn nothing_after_client() -> Tool {
    Tool::new("book")
        .description("Books a flight")
        .no_input()
        .phases()
        .before(async |_, _: HandlerContext| Ok(1))
        .ask(async |_, cx: Conversation| cx.confirm("Shall I?").await)
}

fn main() {}
