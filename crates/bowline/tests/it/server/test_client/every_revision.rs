//! One scenario in several revisions.

use std::time::Duration;

use bowline::{
    proto::{Reason, jsonrpc::code},
    server::{Conversation, NoArguments, Server, Service, Tool},
    testing::{TestClient, TestError, accept, confirm, decline},
};
use serde_json::json;

use super::{App, Choice, booking, choice, panics};

#[tokio::test]
async fn a_scenario_goes_the_same_way_in_every_revision() {
    let mut apps = Vec::new();
    let client = TestClient::in_all_revisions(|| {
        let app = App::default();
        apps.push(app.clone());
        booking(&app)
    })
    .elicit(choice())
    .elicit(confirm())
    .duplicate_rounds();
    let outcome = client.call("book", json!({})).await;
    outcome.assert_text("2 seats on FL1, no. 1");
    client.assert_all_used();
    assert_eq!(client.clients().len(), 3);
    let counts: Vec<_> = apps.iter().map(App::counts).collect();
    assert_eq!(counts, [(1, 1); 3]);

    let client = client.elicit(choice()).elicit(decline());
    let outcome = client.call("book", json!({})).await;
    outcome.assert_tool_error("ElicitationDeclined");
}

#[tokio::test]
async fn other_words_for_the_same_are_no_difference() {
    let client = TestClient::in_all_revisions(|| booking(&App::default())).without_elicitation();
    let outcome = client.call("book", json!({})).await;
    outcome.assert_error_code(code::MISSING_CLIENT_CAPABILITY);
    // Older revisions refuse such arguments, newer ones tell the model.
    let client = TestClient::in_all_revisions(|| booking(&App::default()));
    let outcome = client.call("book", json!({"unknown": 1})).await;
    outcome.assert_tool_error("Invalid arguments");
}

#[tokio::test]
async fn questions_that_are_asked_together_may_come_in_any_order() {
    let both = || {
        let tool = Tool::new("both").description("Asks twice").no_input();
        let tool: Tool = tool.handler_with_conversation(async |_, cx: Conversation| {
            let one = cx.elicit::<Choice>("One?").required();
            let other = cx.elicit::<Choice>("Other?").required();
            let (one, other) = tokio::join!(one.into_future(), other.into_future());
            Ok(format!("{} and {}", one?.flight, other?.flight))
        });
        Server::new("travel", "1")
            .tool(tool)
            .build()
            .expect("sound")
    };
    let client = TestClient::in_all_revisions(both)
        .elicit(accept(json!({"flight": "FL1", "seats": 1})))
        .elicit(accept(json!({"flight": "FL2", "seats": 1})));
    let outcome = client.call("both", json!({})).await;
    outcome.assert_text("FL1 and FL2");
    client.assert_all_used();
}

/// A tool that is another one in every round.
fn forgetful() -> Service<App> {
    let tool = Tool::new("ask").description("Asks").no_input();
    let tool = tool.handler_with_conversation(async |_: NoArguments, cx: Conversation<App>| {
        let visit = cx.state().reserve();
        cx.confirm("Sure?").await?;
        Ok(format!("visit {visit}"))
    });
    Server::new("travel", "1")
        .state(App::default())
        .tool(tool)
        .build()
        .expect("the server is sound")
}

#[tokio::test]
async fn what_differs_between_revisions_is_told() {
    let client = TestClient::in_all_revisions(forgetful).elicit(confirm());
    let outcome = client.call("ask", json!({})).await;
    let Some(TestError::RevisionsDiffer(difference)) = outcome.error() else {
        panic!("{outcome}");
    };
    let (live, replayed) = difference.split_once("on 2026-07-28").expect("two groups");
    assert!(
        live.starts_with("on 2025-06-18 (live), 2025-11-25 (live):\n"),
        "{difference}"
    );
    assert!(
        live.contains("visit 1") && replayed.contains("visit 2"),
        "{difference}"
    );
    assert!(
        replayed.contains("question elicitation/create \"Sure?\""),
        "{difference}"
    );
    panics(|| {
        outcome.assert_text("visit 2");
    });
}

#[tokio::test(start_paused = true)]
async fn paused_time_works() {
    let slow = || {
        let tool = Tool::new("slow").description("Takes its time").no_input();
        let tool: Tool = tool.handler_with_conversation(async |_, cx: Conversation| {
            cx.step("wait", async {
                tokio::time::sleep(Duration::from_secs(50)).await;
                Ok(())
            })
            .await?;
            cx.confirm("Still there?").await?;
            Ok("done")
        });
        Server::new("slow", "1").tool(tool).build().expect("sound")
    };
    let client = TestClient::in_all_revisions(slow).elicit(confirm());
    let outcome = client.call("slow", json!({})).await;
    assert_eq!(
        outcome.error().and_then(TestError::reason),
        Some(Reason::Timeout)
    );
    client.reset();
    let client = client.timeout(Duration::from_secs(60)).elicit(confirm());
    client.call("slow", json!({})).await.assert_text("done");
}

/// Asks the same two questions everywhere, in an order that depends on where.
fn turned_around() -> Service {
    let tool = Tool::new("ask").description("Asks").no_input();
    let tool = tool.handler_with_conversation(async |_: NoArguments, cx: Conversation| {
        let mut questions = ["One?", "Other?"];
        if cx.revision().rules().server_requests {
            questions.reverse();
        }
        for question in questions {
            cx.confirm(question).await?;
        }
        Ok("done")
    });
    let server = Server::new("travel", "1").tool(tool);
    server.build().expect("the server is sound")
}

#[tokio::test]
async fn the_order_of_questions_is_compared() {
    let client = TestClient::in_all_revisions(turned_around)
        .elicit(confirm())
        .elicit(confirm());
    let outcome = client.call("ask", json!({})).await;
    assert!(matches!(
        outcome.error(),
        Some(TestError::RevisionsDiffer(_))
    ));
    for way in client.clients() {
        assert_eq!(way.transcript().asked().len(), 2);
    }
}
