//! The test client, and what it tells of tools that are right and wrong.

mod every_revision;
mod rounds;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use bowline::{
    proto::{
        Reason,
        jsonrpc::{RawJson, code},
        model::{
            CallToolResult, CreateMessageParams, CreateMessageResult, LogLevel, Role,
            SamplingBlock, SamplingMessage,
        },
        revision::Revision,
    },
    server::{ClientCapability, Conversation, Json, Result, Server, Service, Tool, form::Elicit},
    testing::{
        ModelAnswer, TestClient, TestError, TranscriptEntry, accept, accept_url, cancel, confirm,
        decline,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ASKING: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

/// How often things were done.
#[derive(Clone, Default)]
struct App(Arc<Counts>);

#[derive(Default)]
struct Counts {
    reserved: AtomicU32,
    booked: AtomicU32,
}

impl App {
    fn reserve(&self) -> u32 {
        self.0.reserved.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn book(&self) {
        self.0.booked.fetch_add(1, Ordering::SeqCst);
    }

    fn counts(&self) -> (u32, u32) {
        let count = |count: &AtomicU32| count.load(Ordering::SeqCst);
        (count(&self.0.reserved), count(&self.0.booked))
    }
}

#[derive(Elicit)]
struct Choice {
    /// Which flight?
    flight: String,
    /// How many seats?
    #[elicit(min = 1, max = 9)]
    seats: u8,
}

/// Asks, reserves once, asks again, books once.
fn book() -> Tool<App> {
    Tool::new("book")
        .description("Books a flight")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.log(LogLevel::Info, "looking");
            cx.progress_with_message(1.0, 2.0, "found some");
            let choice = cx.elicit::<Choice>("Which flight?").required().await?;
            let number: u32 = cx
                .step("reserve", async { Ok(cx.state().reserve()) })
                .await?;
            cx.confirm(format!("Book {}?", choice.flight)).await?;
            cx.step("book", async {
                cx.state().book();
                Ok(())
            })
            .await?;
            Ok(format!(
                "{} seats on {}, no. {number}",
                choice.seats, choice.flight
            ))
        })
}

fn booking(app: &App) -> Service<App> {
    Server::new("travel", "1")
        .state(app.clone())
        .tool(book())
        .build()
        .expect("the server is sound")
}

fn choice() -> bowline::testing::UserAnswer {
    accept(json!({"flight": "FL1", "seats": 2}))
}

fn panics(assertion: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(assertion)).expect_err("it should panic");
    panic.downcast_ref::<String>().expect("it says why").clone()
}

#[tokio::test]
async fn queued_answers_are_given_in_order_in_every_revision() {
    for revision in ASKING {
        let app = App::default();
        let client = TestClient::new(booking(&app))
            .elicit(choice())
            .elicit(confirm())
            .revision(revision);
        let outcome = client.call("book", json!({})).await;
        outcome.assert_text("2 seats on FL1, no. 1");
        assert_eq!(outcome.transcript().asked(), ["Which flight?", "Book FL1?"]);
        assert_eq!(app.counts(), (1, 1), "{revision}");
        client.assert_all_used();
    }
}

#[tokio::test]
async fn a_transcript_tells_the_whole_story() {
    let client = TestClient::new(booking(&App::default()))
        .elicit(choice())
        .elicit(decline())
        .revision(Revision::V2025_11_25);
    client
        .call("book", json!({}))
        .await
        .assert_tool_error("the user declined");
    let expected = r#"call     tools/call book {}
log      info: "looking"
progress 1 of 2: found some
question elicitation/create "Which flight?" (flight, seats)
answer   {"action":"accept","content":{"flight":"FL1","seats":2}}
question elicitation/create "Book FL1?" (confirmed)
answer   {"action":"decline"}
result   {"content":[{"type":"text","text":"Error: ElicitationDeclined: the user declined"}],"isError":true}
"#;
    assert_eq!(client.transcript().to_string(), expected);
    assert_eq!(client.transcript().logged(), [&json!("looking")]);
}

#[tokio::test]
async fn a_transcript_is_the_same_live_and_by_replay() {
    let ask = || {
        let tool = Tool::new("ask").description("Asks").no_input();
        tool.handler_with_conversation(async |_, cx: Conversation| {
            let choice = cx.elicit::<Choice>("Which?").required().await?;
            cx.confirm("Sure?").await?;
            Ok(choice.flight)
        })
    };
    let mut transcripts = Vec::new();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = TestClient::for_tool(ask())
            .elicit(choice())
            .elicit(cancel());
        let client = client.revision(revision);
        client
            .call("ask", json!({}))
            .await
            .assert_tool_error("ElicitationCancelled");
        transcripts.push(client.transcript());
    }
    assert_eq!(transcripts[0], transcripts[1]);
    assert_eq!(transcripts[0].entries().len(), 6);
    assert!(matches!(
        transcripts[0].entries()[5],
        TranscriptEntry::Returned(_)
    ));
}

#[tokio::test]
async fn a_question_without_an_answer_is_named_and_ends_the_call() {
    for revision in ASKING {
        let app = App::default();
        let client = TestClient::new(booking(&app)).elicit(choice());
        let client = client.revision(revision);
        let outcome = client.call("book", json!({})).await;
        let error = outcome.error().expect("there is no answer");
        assert_eq!(
            error.to_string(),
            r#"no answer is left for elicitation/create "Book FL1?" (confirmed)"#,
            "{revision}"
        );
        assert_eq!(app.counts(), (1, 0), "the tool must not go on");
        client.check_all_used().expect("the mistake was told");
    }
}

#[tokio::test]
async fn an_answer_that_the_form_does_not_allow_never_reaches_the_server() {
    for revision in ASKING {
        let client = TestClient::new(booking(&App::default()))
            .elicit(accept(json!({"flight": "FL1", "seats": 12})))
            .revision(revision);
        let outcome = client.call("book", json!({})).await;
        match outcome.error() {
            Some(TestError::InvalidAnswer { question, reason }) => {
                assert_eq!(question.message(), "Which flight?");
                assert_eq!(reason.to_string(), "seats: 12 is greater than 9");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_may_be_wrong_on_purpose() {
    for revision in ASKING {
        let client = TestClient::new(booking(&App::default()))
            .elicit(accept(json!({"flight": "FL1", "seats": 12})).unchecked())
            .revision(revision);
        let outcome = client.call("book", json!({})).await;
        outcome.assert_tool_error("InvalidAnswer: seats: 12 is greater than 9");
        client.assert_all_used();
    }
}

#[tokio::test]
async fn answers_may_be_computed_and_may_assert() {
    for revision in ASKING {
        let client = TestClient::new(booking(&App::default()))
            .elicit_with(|question| {
                assert_ne!(question.message, "Book FL2?", "the wrong flight");
                match &*question.message {
                    "Book FL1?" => confirm(),
                    _ => accept(json!({"flight": "FL1", "seats": 1})),
                }
            })
            .revision(revision);
        let outcome = client.call("book", json!({})).await;
        outcome.assert_text("1 seats on FL1, no. 1");
        // What is queued comes first.
        let client = client.elicit(accept(json!({"flight": "FL2", "seats": 1})));
        let outcome = client.call("book", json!({})).await;
        let error = outcome.error().expect("it panics").to_string();
        assert!(error.contains("the wrong flight"), "{error}");
    }
}

#[tokio::test]
async fn answers_that_nobody_asks_for_are_left_over() {
    let client = TestClient::new(booking(&App::default()))
        .elicit(choice())
        .elicit(confirm())
        .elicit(confirm())
        .sample("never");
    client.call("book", json!({})).await.assert_contains("FL1");
    let left = client
        .check_all_used()
        .expect_err("there is more")
        .to_string();
    assert_eq!(
        left,
        "not all queued answers were used: 1 of the user and 1 of the model are left"
    );
    panics(|| client.assert_all_used());
    client.reset();
    client.assert_all_used();
    assert_eq!(client.transcript().entries(), []);
}

#[tokio::test]
async fn assertions_fail_with_the_story() {
    let client = TestClient::new(booking(&App::default()))
        .elicit(choice())
        .elicit(decline());
    let outcome = client.call("book", json!({})).await;
    let story = panics(|| {
        outcome.assert_text("booked");
    });
    assert!(story.starts_with(
        "expected the text \"booked\"\nthe tool failed: Error: ElicitationDeclined: the user declined\n"
    ));
    assert!(
        story.contains("question elicitation/create \"Book FL1?\""),
        "{story}"
    );
    panics(|| {
        outcome.assert_tool_error("another reason");
    });
    panics(|| {
        outcome.assert_error_code(code::INVALID_PARAMS);
    });
    let unknown = client.call("bok", json!({})).await;
    unknown.assert_error_code(code::INVALID_PARAMS);
    assert_eq!(
        unknown.error().and_then(TestError::reason),
        Some(Reason::ToolNotFound)
    );
}

/// Asks a model without the help of anything but the protocol.
fn summary() -> Tool {
    Tool::new("summary")
        .description("Asks a model")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let prompt = SamplingMessage::new(Role::User, SamplingBlock::text("Summarise"));
            let question = CreateMessageParams::new(vec![prompt], 100);
            let answer = cx.ask(question, None).await?;
            let answer: CreateMessageResult = answer.decode()?;
            let text = answer.content.blocks()[0].as_text();
            Ok(text.unwrap_or("no text").to_owned())
        })
}

#[tokio::test]
async fn models_give_queued_answers() {
    for revision in ASKING {
        let client = TestClient::for_tool(summary())
            .sample("A fine flight.")
            .sample(ModelAnswer::structured(json!({"fine": true})))
            .sample(ModelAnswer::tool_calls([("look", json!({"at": 1}))]))
            .sample_with(|question| format!("at most {}", question.max_tokens))
            .revision(revision);
        let texts = [
            "A fine flight.",
            "{\"fine\":true}",
            "no text",
            "at most 100",
        ];
        for text in texts {
            let outcome = client.call("summary", json!({})).await;
            // Older revisions have no tools in answers, and say so in words.
            if text != "no text" || revision.rules().features.sampling_tools {
                outcome.assert_text(text);
            }
        }
        assert_eq!(client.transcript().asked(), ["Summarise"; 4]);
    }
}

#[tokio::test]
async fn a_model_may_refuse() {
    let live = TestClient::for_tool(summary())
        .sample(ModelAnswer::refused("not now"))
        .revision(Revision::V2025_11_25);
    live.call("summary", json!({}))
        .await
        .assert_tool_error("Refused: the client refused: not now");
    let replayed = TestClient::for_tool(summary()).sample(ModelAnswer::refused("not now"));
    let outcome = replayed.call("summary", json!({})).await;
    assert!(matches!(outcome.error(), Some(TestError::Client(_))));
}

#[tokio::test]
async fn roots_and_pages_are_answered() {
    let tool = || {
        let tool = Tool::new("ask").description("Asks").no_input();
        tool.handler_with_conversation(async |_, cx: Conversation| {
            let roots = cx.roots().await?;
            let agreed = cx.elicit_url("Sign in", "https://example.com/").await?;
            Ok(format!("{} {agreed:?}", roots[0].uri))
        })
    };
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = TestClient::for_tool(tool())
            .roots(["file:///work"])
            .elicit(accept_url())
            .revision(revision);
        let outcome = client.call("ask", json!({})).await;
        outcome.assert_text("file:///work Accepted(())");
        let client = client.elicit(accept(json!({"name": "Ada"})));
        let outcome = client.call("ask", json!({})).await;
        let error = format!("{:#}", outcome.error().expect("a page is no form"));
        assert!(error.contains("at https://example.com/: "), "{error}");
    }
}

#[tokio::test]
async fn what_a_client_cannot_do_is_refused() {
    let client = TestClient::new(booking(&App::default())).without_elicitation();
    let outcome = client.call("book", json!({})).await;
    outcome.assert_error_code(code::MISSING_CLIENT_CAPABILITY);
    let client = TestClient::for_tool(summary()).without_sampling();
    let client = client.revision(Revision::V2025_11_25);
    let outcome = client.call("summary", json!({})).await;
    outcome.assert_tool_error("Capability: the client did not declare sampling");
    let tool = Tool::new("visit").description("Asks").no_input();
    let tool = tool.requires([ClientCapability::UrlElicitation]);
    let tool: Tool = tool.handler(async |_| Ok("done"));
    let client = TestClient::for_tool(tool.clone()).without_url_elicitation();
    let outcome = client.call("visit", json!({})).await;
    outcome.assert_error_code(code::MISSING_CLIENT_CAPABILITY);
    let client = TestClient::for_tool(tool);
    client.call("visit", json!({})).await.assert_text("done");
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Weather {
    celsius: i32,
}

/// Says in JSON that it is a number, and in its schema that it is not.
struct Liar;

impl bowline::server::IntoToolResult for Liar {
    fn schema() -> Option<RawJson> {
        Json::<Weather>::schema()
    }

    fn into_result(self) -> Result<CallToolResult> {
        let mut result = CallToolResult::text("warm");
        result.structured_content = Some(RawJson::encode(&json!({"celsius": "warm"}))?);
        Ok(result)
    }
}

#[tokio::test]
async fn structured_results_must_be_what_the_tool_publishes() {
    let server = || {
        let told = Tool::new("told").description("Tells").no_input();
        let lied = Tool::new("lied").description("Lies").no_input();
        Server::new("weather", "1")
            .tool(told.handler(async |_| Ok(Json(Weather { celsius: 21 }))))
            .tool(lied.handler(async |_| Ok(Liar)))
    };
    for revision in ASKING {
        let client = TestClient::for_server(server()).revision(revision);
        let outcome = client.call("told", json!({})).await;
        outcome.assert_structured(json!({"celsius": 21}));
        assert_eq!(outcome.structured::<Weather>(), Weather { celsius: 21 });
        let outcome = client.call("lied", json!({})).await;
        assert_eq!(
            outcome.error().expect("it lies").to_string(),
            "the result of lied does not match its output schema: \
             at \"/celsius\": \"warm\" is not of type \"integer\""
        );
    }
}

#[tokio::test]
async fn what_a_server_does_not_offer_is_refused() {
    let client = TestClient::new(booking(&App::default()));
    let none: [(&str, &str); 0] = [];
    let error = client.prompt("none", none).await.expect_err("no prompts");
    assert_eq!(error.reason(), Some(Reason::CapabilityNotSupported));
    let error = client.read("file:///none").await.expect_err("no resources");
    assert_eq!(error.reason(), Some(Reason::CapabilityNotSupported));
    let tools = client.client().await.expect("it connects").tools();
    assert_eq!(tools.list().await.expect("there are tools").len(), 1);
}
