//! The server asks, the host answers: in the handshake era.

use std::{sync::Arc, time::Duration};

use bowline::{
    Client,
    proto::{
        jsonrpc::{ErrorObject, RawJson, code},
        model::{
            CreateMessageResult, ElicitAction, ElicitResult, Role, SamplingBlock, SamplingContent,
        },
    },
    testing::ServerProfile,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::{connected, connected_with, said};

pub(super) fn form(message: &str) -> Value {
    json!({
        "message": message,
        "requestedSchema": {"type": "object", "properties": {"seat": {"type": "string"}}},
    })
}

pub(super) fn prompt(text: &str) -> Value {
    json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        "maxTokens": 10,
    })
}

pub(super) fn accepted(seat: &str) -> ElicitResult {
    let content = RawJson::encode(&json!({"seat": seat})).expect("it is JSON");
    ElicitResult::accept(content)
}

pub(super) fn sampled(text: &str) -> CreateMessageResult {
    let content = SamplingContent::Single(SamplingBlock::text(text));
    CreateMessageResult::new(Role::Assistant, content, "a-model")
}

#[tokio::test(start_paused = true)]
async fn handlers_are_what_is_declared() {
    let (_client, _session, server) = connected(ServerProfile::handshake()).await;
    assert_eq!(server.transcript()[1].params()["capabilities"], json!({}));

    let builder = Client::builder()
        .on_elicit(|_| async { ElicitResult::new(ElicitAction::Decline) })
        .on_sample(|_| async { Err(ErrorObject::new(code::USER_REJECTED, "no")) });
    let (_client, _session, server) = connected_with(builder, ServerProfile::handshake()).await;
    let transcript = server.transcript();
    let capabilities = &transcript[1].params()["capabilities"];
    assert!(capabilities["elicitation"].is_object(), "{capabilities}");
    assert!(capabilities["sampling"].is_object(), "{capabilities}");
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_while_a_call_waits() {
    let builder = Client::builder()
        .on_elicit(|params| async move { accepted(&params.message) })
        .on_sample(|params| async move {
            let text = params.messages[0].content.blocks()[0].as_text();
            Ok(sampled(text.unwrap_or_default()))
        });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let serving = async {
        let request = session.expect("tools/call").await;
        let asked = session.request("elicitation/create", form("12A")).await;
        let answer = session.response_to(&asked).await;
        assert_eq!(answer.result()["action"], "accept");
        assert_eq!(answer.result()["content"]["seat"], "12A");
        let asked = session
            .request("sampling/createMessage", prompt("sum up"))
            .await;
        let answer = session.response_to(&asked).await;
        assert_eq!(answer.result()["content"]["text"], "sum up");
        assert_eq!(answer.result()["model"], "a-model");
        session.respond(&request, said("booked")).await;
    };
    let call = async { client.tools().call("book", json!({})).await };
    let (result, ()) = tokio::join!(call, serving);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("booked")
    );
}

#[tokio::test(start_paused = true)]
async fn several_questions_are_open_at_once() {
    // No handler goes on before all three are at work.
    let together = Arc::new(Barrier::new(3));
    let builder = Client::builder().on_elicit(move |params| {
        let together = Arc::clone(&together);
        async move {
            together.wait().await;
            accepted(&params.message)
        }
    });
    let (_client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let mut asked = Vec::new();
    for seat in ["1A", "2B", "3C"] {
        let id = session.request("elicitation/create", form(seat)).await;
        asked.push((id, seat));
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(session.recv().await.expect("an answer"));
    }
    for (id, seat) in asked {
        let answer = answers.iter().find(|answer| *answer.id() == id);
        let answer = answer.expect("each question is answered under its own id");
        assert_eq!(answer.result()["content"]["seat"], seat);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_offered_is_refused() {
    let (_client, mut session, _server) = connected(ServerProfile::handshake()).await;
    for (method, params) in [
        ("elicitation/create", form("?")),
        ("sampling/createMessage", prompt("?")),
        ("roots/list", json!({})),
        ("no/such", json!({})),
    ] {
        let asked = session.request(method, params).await;
        let answer = session.response_to(&asked).await;
        assert_eq!(answer.error()["code"], code::METHOD_NOT_FOUND, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_refuse() {
    let builder = Client::builder()
        .on_sample(|_| async { Err(ErrorObject::new(code::USER_REJECTED, "not today")) });
    let (_client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let asked = session.request("sampling/createMessage", prompt("?")).await;
    let answer = session.response_to(&asked).await;
    assert_eq!(answer.error()["code"], code::USER_REJECTED);
    assert_eq!(answer.error()["message"], "not today");
}

/// Panics in the handler's future, or already when it is called.
async fn panicking(at_once: bool) {
    let builder = Client::builder().on_elicit(move |params| {
        assert!(!(at_once && params.message == "bad"), "a bug in the host");
        async move {
            assert_ne!(params.message, "bad", "a bug in the host");
            accepted(&params.message)
        }
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let bad = session.request("elicitation/create", form("bad")).await;
    let refused = session.response_to(&bad).await;
    assert_eq!(refused.error()["code"], code::INTERNAL_ERROR);
    let good = session.request("elicitation/create", form("good")).await;
    let answer = session.response_to(&good).await;
    assert_eq!(answer.result()["content"]["seat"], "good");
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping(), answering);
    pong.expect("the connection is none the worse");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_its_own_question_only() {
    panicking(false).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_when_called_fails_its_own_question_only() {
    panicking(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_use_the_client_when_it_is_called() {
    let slot: Arc<std::sync::OnceLock<Client>> = Arc::default();
    let inside = Arc::clone(&slot);
    let builder = Client::builder().on_elicit(move |_| {
        let state = inside.get().map(Client::notifications);
        async move {
            drop(state);
            accepted("fine")
        }
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    slot.set(client.clone()).expect("set once");
    let asked = session.request("elicitation/create", form("?")).await;
    let answer = session.response_to(&asked).await;
    assert_eq!(answer.result()["content"]["seat"], "fine");
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_question_stops_its_handler() {
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let builder = Client::builder().on_elicit(move |_| {
        let started = started.clone();
        async move {
            // Dropped with the future, which closes the channel below.
            let (alive, watched) = tokio::sync::oneshot::channel::<()>();
            started.send(watched).expect("the test listens");
            std::future::pending::<()>().await;
            drop(alive);
            accepted("never")
        }
    });
    let (_client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let asked = session.request("elicitation/create", form("?")).await;
    let watched = starts.recv().await.expect("the handler runs");
    session
        .notify("notifications/cancelled", json!({"requestId": asked}))
        .await;
    watched.await.expect_err("the handler was dropped");

    session.request("elicitation/create", form("?")).await;
    let watched = starts.recv().await.expect("the handler runs");
    session.close();
    watched.await.expect_err("it ends with the session, too");
}

#[tokio::test(start_paused = true)]
async fn a_slow_handler_delays_nothing_else() {
    let builder = Client::builder().on_elicit(|_| async {
        tokio::time::sleep(Duration::from_secs(300)).await;
        accepted("at last")
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let asked = session.request("elicitation/create", form("?")).await;
    let begun = tokio::time::Instant::now();
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping(), answering);
    pong.expect("at once");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let answer = session.response_to(&asked).await;
    assert_eq!(answer.result()["content"]["seat"], "at last");
}
