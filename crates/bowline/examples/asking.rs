//! A tool that asks its user for a form, and a client that answers it, in
//! every revision of the protocol that has questions.
//!
//! ```sh
//! cargo run -p bowline --example asking --features macros
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use bowline::{
    Client, Revision,
    model::{ElicitAction, ElicitResult},
    server::{Conversation, Result, Server, form::Elicit, tool},
};
use serde_json::json;

#[derive(Elicit)]
struct Order {
    /// How many portions?
    #[elicit(min = 1, max = 9)]
    portions: u8,
    /// With sauce?
    sauce: bool,
}

/// Orders a dish.
#[tool]
async fn order(dish: String, cx: Conversation) -> Result<String> {
    let question = format!("How would you like your {dish}?");
    let order = cx.elicit::<Order>(question).required().await?;
    let number: u32 = cx.step("send", async { Ok(42) }).await?;
    let sauce = if order.sauce { " with sauce" } else { "" };
    let Order { portions, .. } = order;
    Ok(format!("Order {number}: {portions} × {dish}{sauce}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let service = Server::new("kitchen", "1.0.0")
        .tool(order::tool())
        .build()?;
    // On the first, the server sends a request and waits. On the second it ends
    // the call with the question, and runs the tool again with the answer.
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = Client::builder()
            .revisions([revision])
            .on_elicit(async |question| {
                println!("{}", question.message);
                let answer = json!({"portions": 2, "sauce": true});
                ElicitResult::accept_with(&answer)
                    .unwrap_or_else(|_| ElicitResult::new(ElicitAction::Cancel))
            })
            .connect(service.in_memory())
            .await?;
        let result = client
            .tools()
            .call("order", json!({"dish": "dumplings"}))
            .await?;
        println!("{}: {}", revision.as_str(), result.all_text());
        client.stop().await;
    }
    Ok(())
}
