//! Rounds that are repeated, or go to another node.

use std::sync::Arc;

use bowline::{
    proto::jsonrpc::code,
    server::{
        Conversation, Server, Service, Tool,
        seal::SealKeys,
        store::{MemoryJournalStore, MemorySealedStateStore},
    },
    testing::{TestClient, TestError, confirm},
};
use serde_json::json;

use super::{App, book, booking, choice};

#[tokio::test]
async fn steps_happen_once_however_often_a_round_is_repeated() {
    for times in [1, 2, 3] {
        let app = App::default();
        let client = TestClient::new(booking(&app))
            .elicit(choice())
            .elicit(confirm())
            .repeat_rounds(times);
        let outcome = client.call("book", json!({})).await;
        outcome.assert_text("2 seats on FL1, no. 1");
        assert_eq!(app.counts(), (1, 1), "{times} times");
        assert_eq!(outcome.transcript().asked(), ["Which flight?", "Book FL1?"]);
        client.assert_all_used();
    }
}

#[tokio::test]
async fn what_is_no_step_is_found_out_by_repeated_rounds() {
    let careless = Tool::new("book")
        .description("Books")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.confirm("Book?").await?;
            cx.state().reserve();
            cx.confirm("Pay?").await?;
            Ok("done")
        });
    let app = App::default();
    let client = TestClient::for_tool_with_state(careless, app.clone())
        .elicit(confirm())
        .elicit(confirm())
        .duplicate_rounds();
    client.call("book", json!({})).await.assert_text("done");
    // Twice in the second round, and once in the third, whose repetition is
    // told what the first came to.
    assert_eq!(app.counts(), (3, 0));
}

/// A node of a fleet, or a machine of its own.
fn node(
    app: &App,
    stores: &(Arc<MemoryJournalStore>, Arc<MemorySealedStateStore>),
) -> Service<App> {
    let keys = SealKeys::from_secret(b"thirty-two bytes, all of them known");
    let (journals, states) = stores;
    let server = Server::new("travel", "1")
        .state(app.clone())
        .tool(book())
        .seal_keys(keys.expect("it is long enough"))
        .journal_store(Arc::clone(journals))
        .sealed_state_store(Arc::clone(states));
    server.build().expect("the server is sound")
}

#[tokio::test]
async fn rounds_go_to_two_nodes_in_turn() {
    let app = App::default();
    let stores = Default::default();
    let client = TestClient::on_two_nodes(node(&app, &stores), node(&app, &stores))
        .elicit(choice())
        .elicit(confirm())
        .duplicate_rounds();
    let outcome = client.call("book", json!({})).await;
    outcome.assert_text("2 seats on FL1, no. 1");
    assert_eq!(app.counts(), (1, 1));
}

#[tokio::test]
async fn nodes_that_share_no_store_are_found_out() {
    let app = App::default();
    let nodes = [Default::default(), Default::default()];
    let [one, other] = nodes.each_ref().map(|stores| node(&app, stores));
    let client = TestClient::on_two_nodes(one, other).elicit(choice());
    let outcome = client.call("book", json!({})).await;
    outcome.assert_error_code(code::INVALID_PARAMS);
    assert_eq!(app.counts(), (0, 0));
}

#[tokio::test]
async fn nodes_that_share_no_keys_are_found_out() {
    let app = App::default();
    let client = TestClient::on_two_nodes(booking(&app), booking(&app)).elicit(choice());
    let outcome = client.call("book", json!({})).await;
    outcome.assert_error_code(code::INVALID_PARAMS);
    assert_eq!(app.counts(), (0, 0));
}

#[tokio::test]
async fn rounds_without_end_are_found_out() {
    let tool = Tool::new("ask").description("Asks").no_input();
    let tool: Tool = tool.handler_with_conversation(async |_, cx: Conversation| {
        for _ in 0..50 {
            cx.confirm("Again?").await?;
        }
        Ok("done")
    });
    let client = TestClient::for_tool(tool).elicit_with(|_| confirm());
    let outcome = client.call("ask", json!({})).await;
    assert!(matches!(
        outcome.error(),
        Some(TestError::TooManyRounds { limit: 32 })
    ));
}
