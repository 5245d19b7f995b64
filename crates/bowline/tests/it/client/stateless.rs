//! The era without a handshake, end to end.

use std::sync::Arc;

use bowline::{
    Client,
    client::Notification,
    proto::{
        ErrorKind, Reason,
        model::{LogLevel, PingParams},
        revision::Revision,
    },
    testing::{FakeSession, ReceivedMessage, ServerProfile},
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::{
    connected, connected_with,
    handlers::{accepted, form, prompt, sampled},
    said,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Acknowledges a stream of changes, all of it.
async fn acknowledge(session: &mut FakeSession, listen: &ReceivedMessage) {
    let params = json!({
        "notifications": listen.params()["notifications"],
        "_meta": {SUBSCRIPTION: listen.id()},
    });
    session
        .notify("notifications/subscriptions/acknowledged", params)
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_opens_with_one_question_and_every_request_says_who_asks() {
    let (client, mut session, server) = connected(ServerProfile::stateless()).await;
    let seen = client.server_info().expect("there is a session");
    assert_eq!(seen.revision, Revision::V2026_07_28);
    assert_eq!(seen.info.as_ref().map(|info| &*info.name), Some("fake"));
    let answering = async {
        let request = session.expect("tools/call").await;
        let meta = &request.params()["_meta"];
        assert_eq!(meta[VERSION], "2026-07-28");
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"],
            "bowline"
        );
        session.respond(&request, said("hello")).await;
    };
    let call = async { client.tools().call("hi", json!({})).await };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("hello")
    );
    assert_eq!(server.transcript().len(), 2, "the question and the call");
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_in_rounds() {
    let builder = Client::builder().on_elicit(|params| async move { accepted(&params.message) });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::stateless()).await;
    let serving = async {
        let first = session.expect("tools/call").await;
        let questions = json!({"seat": {"method": "elicitation/create", "params": form("12A")}});
        session.require_input(&first, questions, "state-1").await;
        let second = session.expect("tools/call").await;
        assert_ne!(second.id(), first.id());
        assert_eq!(second.params()["requestState"], "state-1");
        assert_eq!(second.params()["arguments"], first.params()["arguments"]);
        let answers = &second.params()["inputResponses"];
        assert_eq!(answers["seat"]["content"]["seat"], "12A");
        let questions = json!({"meal": {"method": "elicitation/create", "params": form("soup")}});
        session.require_input(&second, questions, "state-2").await;
        let third = session.expect("tools/call").await;
        assert_eq!(third.params()["requestState"], "state-2");
        let answers = &third.params()["inputResponses"];
        assert_eq!(answers["meal"]["content"]["seat"], "soup");
        assert_eq!(answers["seat"], Value::Null, "this round's answers only");
        session.respond(&third, said("booked")).await;
    };
    let call = async { client.tools().call("book", json!({"to": "LIS"})).await };
    let (result, ()) = tokio::join!(call, serving);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("booked")
    );
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_round_are_open_at_once() {
    let together = Arc::new(Barrier::new(3));
    let (first, second) = (Arc::clone(&together), together);
    let builder = Client::builder()
        .on_elicit(move |params| {
            let together = Arc::clone(&first);
            async move {
                together.wait().await;
                accepted(&params.message)
            }
        })
        .on_sample(move |_| {
            let together = Arc::clone(&second);
            async move {
                together.wait().await;
                Ok(sampled("a poem"))
            }
        });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::stateless()).await;
    let serving = async {
        let first = session.expect("tools/call").await;
        let questions = json!({
            "a": {"method": "elicitation/create", "params": form("1A")},
            "b": {"method": "sampling/createMessage", "params": prompt("write")},
            "c": {"method": "elicitation/create", "params": form("3C")},
        });
        session.require_input(&first, questions, "s").await;
        let second = session.expect("tools/call").await;
        let answers = &second.params()["inputResponses"];
        assert_eq!(answers["a"]["content"]["seat"], "1A");
        assert_eq!(answers["b"]["content"]["text"], "a poem");
        assert_eq!(answers["c"]["content"]["seat"], "3C");
        session.respond(&second, said("done")).await;
    };
    let call = async { client.tools().call("ask", json!({})).await };
    let (result, ()) = tokio::join!(call, serving);
    result.expect("an answer");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_its_own_call_only() {
    let builder = Client::builder().on_elicit(|params| async move {
        assert_ne!(params.message, "bad", "a bug in the host");
        accepted(&params.message)
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::stateless()).await;
    let serving = async {
        for message in ["bad", "good"] {
            let request = session.expect("tools/call").await;
            let questions = json!({"q": {"method": "elicitation/create", "params": form(message)}});
            session.require_input(&request, questions, "s").await;
        }
        let again = session.find("tools/call").await;
        session.respond(&again, said("fine")).await;
    };
    let calls = async {
        let bad = client.tools().call("bad", json!({})).await;
        let good = client.tools().call("good", json!({})).await;
        (bad, good)
    };
    let ((bad, good), ()) = tokio::join!(calls, serving);
    let bad = bad.expect_err("its question was not answered");
    assert_eq!(bad.kind(), ErrorKind::Cancelled);
    assert_eq!(good.expect("an answer").content[0].as_text(), Some("fine"));
}

#[tokio::test(start_paused = true)]
async fn questions_that_were_not_offered_fail_the_call() {
    let (client, mut session, _server) = connected(ServerProfile::stateless()).await;
    let serving = async {
        let request = session.expect("tools/call").await;
        let questions = json!({"q": {"method": "elicitation/create", "params": form("?")}});
        session.require_input(&request, questions, "s").await;
    };
    let call = async { client.tools().call("ask", json!({})).await };
    let (result, ()) = tokio::join!(call, serving);
    let error = result.expect_err("it was not offered");
    assert_eq!(error.reason(), Reason::InvalidResponse);
    assert!(
        format!("{error:#}").contains("elicitation/create"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_its_question_is_open_stops_the_handler() {
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let builder = Client::builder().on_elicit(move |_| {
        let started = started.clone();
        async move {
            let (alive, watched) = tokio::sync::oneshot::channel::<()>();
            started.send(watched).expect("the test listens");
            std::future::pending::<()>().await;
            drop(alive);
            accepted("never")
        }
    });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::stateless()).await;
    let call = client.tools().call("ask", json!({}));
    let serving = async {
        let request = session.expect("tools/call").await;
        let questions = json!({"q": {"method": "elicitation/create", "params": form("?")}});
        session.require_input(&request, questions, "s").await;
        let watched = starts.recv().await;
        Some(watched.expect("the handler runs"))
    };
    let watched = tokio::select! {
        result = call => panic!("nobody answered, and yet: {result:?}"),
        watched = serving => watched,
    };
    let watched = watched.expect("it is there");
    watched.await.expect_err("the handler was dropped");
}

#[tokio::test(start_paused = true)]
async fn changes_arrive_on_a_stream_that_is_restored() {
    let (client, mut session, mut server) = connected(ServerProfile::stateless()).await;
    let mut notifications = client.subscribe_to_list_changes();
    let listen = session.expect("subscriptions/listen").await;
    acknowledge(&mut session, &listen).await;
    let granting = async {
        let listen = session.expect("subscriptions/listen").await;
        let wanted = &listen.params()["notifications"];
        assert_eq!(wanted["toolsListChanged"], true);
        assert_eq!(wanted["resourceSubscriptions"], json!(["u:x"]));
        acknowledge(&mut session, &listen).await;
        // The stream that it replaces is given up only now.
        session.expect("notifications/cancelled").await;
        let params = json!({"uri": "u:x", "_meta": {SUBSCRIPTION: listen.id()}});
        session
            .notify("notifications/resources/updated", params)
            .await;
    };
    let (subscribed, ()) = tokio::join!(client.resources().subscribe("u:x"), granting);
    let _subscription = subscribed.expect("it was acknowledged");
    match notifications.next().await {
        Some(Notification::ResourceUpdated(params)) => assert_eq!(params.uri, "u:x"),
        other => panic!("{other:?}"),
    }
    session.close();

    let mut session = server.session().await;
    let listen = session.expect("subscriptions/listen").await;
    let wanted = &listen.params()["notifications"];
    assert_eq!(wanted["resourceSubscriptions"], json!(["u:x"]));
    acknowledge(&mut session, &listen).await;
    let uris = vec!["u:x".into()];
    assert_eq!(
        notifications.next().await,
        Some(Notification::Resubscribed { uris })
    );
}

#[tokio::test(start_paused = true)]
async fn the_log_level_travels_with_every_request() {
    let (client, mut session, _server) = connected(ServerProfile::stateless()).await;
    client
        .set_log_level(LogLevel::Debug)
        .await
        .expect("it logs");
    let answering = async {
        let request = session.expect("tools/list").await;
        let level = &request.params()["_meta"]["io.modelcontextprotocol/logLevel"];
        assert_eq!(level, "debug");
        session.respond(&request, json!({"tools": []})).await;
    };
    let (tools, ()) = tokio::join!(client.tools().list(), answering);
    assert!(tools.expect("a list").is_empty());
}

#[tokio::test(start_paused = true)]
async fn methods_of_the_other_era_are_not_sent() {
    let (client, mut session, server) = connected(ServerProfile::stateless()).await;
    let ping = client.request(PingParams::default());
    let error = ping.await.expect_err("there is no ping");
    assert_eq!(error.reason(), Reason::MethodNotFound);
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("ping"), 0);
}
