//! How to test a tool that asks: in every revision of the protocol, with
//! scripted answers, and with each round sent twice.
//!
//! ```sh
//! cargo run -p bowline --example testing --features macros,testing
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use bowline::{
    server::{Conversation, Result, Server, Service, tool},
    testing::{TestClient, confirm, decline},
};
use serde_json::json;

/// Deletes all notes, if the user agrees.
#[tool]
async fn delete_notes(cx: Conversation) -> Result<String> {
    cx.confirm("Delete all notes?").await?;
    let deleted: u32 = cx.step("delete", async { Ok(3) }).await?;
    Ok(format!("{deleted} notes deleted"))
}

fn service() -> Service {
    let server = Server::new("notes", "1.0.0").tool(delete_notes::tool());
    server.build().expect("the server is valid")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let agreed = TestClient::in_all_revisions(service).elicit(confirm());
    let outcome = agreed.call("delete_notes", json!({})).await;
    outcome.assert_text("3 notes deleted");
    agreed.assert_all_used();

    let refused = TestClient::in_all_revisions(service).elicit(decline());
    let outcome = refused.call("delete_notes", json!({})).await;
    outcome.assert_tool_error("Declined");

    println!("ok");
}
