//! Connecting and calling, when all goes well.

use std::collections::BTreeMap;

use bowline::{
    Client, Error,
    client::progress_channel,
    proto::{
        ErrorKind, Reason,
        client::ConnectionState,
        jsonrpc::{ErrorObject, RawJson},
        model::{LogLevel, Meta, PromptReference, Reference, Root},
        revision::Revision,
    },
    testing::{ReceivedMessage, ServerProfile},
};
use serde_json::json;

use super::{connected, connected_with, said};

#[tokio::test(start_paused = true)]
async fn a_client_says_who_it_is_and_hears_who_the_server_is() {
    let builder = Client::builder().client_info("tester", "9.9");
    let profile = ServerProfile::handshake().instructions("be kind");
    let (client, _session, server) = connected_with(builder, profile).await;
    assert_eq!(client.state(), ConnectionState::Ready);
    let seen = client.server_info().expect("there is a session");
    assert_eq!(seen.revision, Revision::V2025_11_25);
    assert_eq!(seen.info.as_ref().map(|info| &*info.name), Some("fake"));
    assert_eq!(seen.instructions.as_deref(), Some("be kind"));
    let transcript = server.transcript();
    let opening: Vec<_> = transcript.iter().map(ReceivedMessage::method).collect();
    assert_eq!(
        opening,
        ["server/discover", "initialize", "notifications/initialized"]
    );
    assert_eq!(transcript[1].params()["clientInfo"]["name"], "tester");
    assert_eq!(transcript[1].params()["clientInfo"]["version"], "9.9");
}

#[tokio::test(start_paused = true)]
async fn every_handshake_revision_is_spoken() {
    for revision in Revision::ALL {
        if revision == Revision::LATEST {
            continue;
        }
        let profile = ServerProfile::handshake().revision(revision);
        let (client, mut session, _server) = connected(profile).await;
        let answering = async {
            let request = session.expect("tools/call").await;
            session.respond(&request, said("yes")).await;
        };
        let call = async { client.tools().call("any", json!({})).await };
        let (result, ()) = tokio::join!(call, answering);
        assert_eq!(result.expect("an answer").content[0].as_text(), Some("yes"));
        assert_eq!(client.server_info().expect("a session").revision, revision);
    }
}

#[tokio::test(start_paused = true)]
async fn answers_in_any_order_find_their_callers() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let calls = (0..50).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let result = client.tools().call("echo", json!({"n": number})).await;
            (number, result.expect("an answer"))
        })
    });
    let calls: Vec<_> = calls.collect();
    let mut requests = Vec::new();
    for _ in 0..50 {
        requests.push(session.expect("tools/call").await);
    }
    for request in requests.iter().rev() {
        let number = request.params()["arguments"]["n"].to_string();
        session.respond(request, said(&number)).await;
    }
    for call in calls {
        let (number, result) = call.await.expect("no panic");
        assert_eq!(result.content[0].as_text(), Some(&*number.to_string()));
    }
}

type Forecast = BTreeMap<String, i32>;

fn degrees(degrees: i32) -> Forecast {
    [("degrees".to_owned(), degrees)].into()
}

async fn forecast(result: serde_json::Value) -> Result<Forecast, Error> {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("tools/call").await;
        session.respond(&request, result).await;
    };
    let call = async {
        let call = client.tools().call("forecast", json!({"place": "Lisbon"}));
        call.typed().await
    };
    tokio::join!(call, answering).0
}

#[tokio::test(start_paused = true)]
async fn typed_results_come_from_structure_or_from_text() {
    let structured = json!({"content": [], "structuredContent": {"degrees": 21}});
    let forecast_of = |result| async { forecast(result).await.expect("it fits") };
    assert_eq!(forecast_of(structured).await, degrees(21));
    let text = said(r#"{"degrees": 20}"#);
    assert_eq!(forecast_of(text).await, degrees(20));
}

#[tokio::test(start_paused = true)]
async fn typed_results_that_do_not_fit_are_errors() {
    let wrong = json!({"content": [], "structuredContent": {"degrees": "warm"}});
    let error = forecast(wrong).await.expect_err("it does not fit");
    assert_eq!(error.reason(), Reason::InvalidResponse);
    assert!(format!("{error:#}").contains("degrees"), "{error}");

    let mut failed = said("no such place");
    failed["isError"] = json!(true);
    let error = forecast(failed).await.expect_err("the tool failed");
    assert_eq!(error.reason(), Reason::ToolExecutionFailed);
    assert_eq!(format!("{error:#}"), "the tool failed: no such place");
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_before_the_answer_and_in_order() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let (listener, mut progress) = progress_channel();
    let call = client
        .tools()
        .call("slow", json!({}))
        .map_call(|call| call.progress_to(listener));
    let answering = async {
        let request = session.expect("tools/call").await;
        for done in 1..=3 {
            session.progress(&request, f64::from(done), 3.0).await;
        }
        session.respond(&request, said("done")).await;
    };
    let (result, ()) = tokio::join!(call, answering);
    result.expect("an answer");
    let mut seen = Vec::new();
    while let Some(progress) = progress.recv().await {
        seen.push(progress.progress.as_f64());
    }
    assert_eq!(
        seen,
        [1.0, 2.0, 3.0],
        "and the channel closes with the call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_progress_leaves_the_newest_and_a_count() {
    const FLOOD: u32 = 100_000;
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let (listener, mut progress) = progress_channel();
    let call = client.tools().call("slow", json!({})).progress_to(listener);
    let answering = async {
        let request = session.expect("tools/call").await;
        for done in 1..=FLOOD {
            session.progress(&request, f64::from(done), 0.0).await;
        }
        session.respond(&request, said("done")).await;
    };
    let (result, ()) = tokio::join!(call, answering);
    result.expect("an answer");
    let mut kept = Vec::new();
    while let Some(report) = progress.recv().await {
        kept.push(report.progress.as_f64());
    }
    assert_eq!(kept.last(), Some(&f64::from(FLOOD)), "the newest is there");
    assert!(kept.len() <= 64, "{} are kept", kept.len());
    let all = progress.lost() + u64::try_from(kept.len()).expect("it fits");
    assert_eq!(all, u64::from(FLOOD), "none is lost without a word");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_keeps_up_misses_nothing() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let (listener, mut progress) = progress_channel();
    let call = client.tools().call("slow", json!({})).progress_to(listener);
    let (taken, mut takes) = tokio::sync::mpsc::channel(1);
    let listening = async {
        let mut heard = 0;
        while progress.recv().await.is_some() {
            heard += 1;
            let _ = taken.send(()).await;
        }
        (heard, progress.lost())
    };
    let answering = async {
        let request = session.expect("tools/call").await;
        for done in 1..=200 {
            session.progress(&request, f64::from(done), 200.0).await;
            takes.recv().await;
        }
        session.respond(&request, said("done")).await;
    };
    let (result, heard, ()) = tokio::join!(call, listening, answering);
    result.expect("an answer");
    assert_eq!(heard, (200, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_handed_up_verbatim() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("resources/read").await;
        let mut error = ErrorObject::new(-32002, "no such thing");
        error.data = RawJson::encode(&json!({"uri": "file:///none"})).ok();
        session.respond_error(&request, error).await;
    };
    let read = async { client.resources().read("file:///none").await };
    let (result, ()) = tokio::join!(read, answering);
    let error = result.expect_err("the server refused");
    assert_eq!(error.kind(), ErrorKind::JsonRpc);
    assert_eq!(error.reason(), Reason::ResourceNotFound);
    assert_eq!(error.server_error().map(|error| error.code), Some(-32002));
    assert_eq!(error.code(), Some(-32002));
    let details = error.data().map(RawJson::get);
    assert_eq!(details, Some(r#"{"uri":"file:///none"}"#));
    assert_eq!(error.operation(), "resources/read");
    assert!(!error.is_transient());
}

#[tokio::test(start_paused = true)]
async fn what_the_server_does_not_offer_is_not_asked_for() {
    let profile = ServerProfile::handshake().capabilities(json!({"tools": {}}));
    let (client, mut session, server) = connected(profile).await;
    let error = client.prompts().list().await.expect_err("no prompts");
    assert_eq!(error.kind(), ErrorKind::Capability);
    assert!(format!("{error:#}").contains("prompts"), "{error}");
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("prompts/list"), 0);
}

#[tokio::test(start_paused = true)]
async fn prompts_pings_and_log_levels_have_their_requests() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
        let get = session.expect("prompts/get").await;
        assert_eq!(get.params()["arguments"], json!({"topic": "knots"}));
        session.respond(&get, json!({"messages": []})).await;
        let level = session.expect("logging/setLevel").await;
        assert_eq!(level.params()["level"], "warning");
        session.respond(&level, json!({})).await;
    };
    let asking = async {
        client.ping().await.expect("it is there");
        let prompt = client.prompts().get("explain", [("topic", "knots")]).await;
        assert!(prompt.expect("a prompt").messages.is_empty());
        let level = client.set_log_level(LogLevel::Warning).await;
        level.expect("it logs");
    };
    tokio::join!(asking, answering);
}

#[tokio::test(start_paused = true)]
async fn roots_are_told_and_their_changes_announced() {
    let builder = Client::builder().roots([Root::new("file:///first")]);
    let (client, mut session, server) = connected_with(builder, ServerProfile::handshake()).await;
    let initialize = &server.transcript()[1];
    assert_eq!(
        initialize.params()["capabilities"]["roots"]["listChanged"],
        true
    );
    let asked = session.request("roots/list", json!({})).await;
    let answer = session.response_to(&asked).await;
    assert_eq!(answer.result()["roots"][0]["uri"], "file:///first");
    client.set_roots([Root::new("file:///second")]);
    session.expect("notifications/roots/list_changed").await;
    let asked = session.request("roots/list", json!({})).await;
    let answer = session.response_to(&asked).await;
    assert_eq!(answer.result()["roots"][0]["uri"], "file:///second");
}

#[tokio::test(start_paused = true)]
async fn roots_can_be_looked_at_and_are_not_told_unless_declared() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    assert_eq!(client.roots(), []);
    client.set_roots([Root::new("file:///here")]);
    assert_eq!(client.roots(), [Root::new("file:///here")]);
    // What comes first is not that the roots have changed.
    let answering = async {
        let ping = session.recv().await.expect("a message");
        assert_eq!(ping.method(), "ping");
        session.respond(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping(), answering);
    pong.expect("an answer");
}

#[tokio::test(start_paused = true)]
async fn notifications_can_be_sent() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let tide = json!({"height": 7.1});
    client
        .notify("notifications/acme/tide", &tide)
        .expect("it is open");
    let told = session.expect("notifications/acme/tide").await;
    assert_eq!(told.params(), &tide);

    let error = client.notify("notifications/roots/list_changed", &json!({}));
    let error = error.expect_err("roots were not declared");
    assert_eq!(error.kind(), ErrorKind::Capability);
    assert!(
        format!("{error:#}").contains("roots.listChanged"),
        "{error}"
    );
    let error = client
        .notify("notifications/acme/tide", &7)
        .expect_err("no object");
    assert_eq!(error.reason(), Reason::InvalidParams);
    client.stop().await;
    let error = client
        .notify("notifications/acme/tide", &tide)
        .expect_err("it is over");
    assert_eq!(error.kind(), ErrorKind::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_ping_works_where_there_is_none() {
    let (client, mut session, _server) = connected(ServerProfile::stateless()).await;
    let answering = async {
        let request = session.expect("server/discover").await;
        let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {},
            "ttlMs": 0, "cacheScope": "private"});
        session.respond(&request, result).await;
    };
    let (pong, ()) = tokio::join!(client.ping(), answering);
    pong.expect("it is there");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_nothing_are_left_out() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("tools/call").await;
        assert_eq!(request.params(), &json!({"name": "ping"}));
        session.respond(&request, said("pong")).await;
    };
    let call = async { client.tools().call("ping", ()).await };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(result.expect("an answer").all_text(), "pong");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_declares_modes_is_told_the_session() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let serving = async {
        let listing = session.expect("tools/list").await;
        let tools = json!([
            {"name": "remembers", "inputSchema": {"type": "object"}, "mode": "stateful"},
            {"name": "forgets", "inputSchema": {"type": "object"}, "mode": "stateless"},
        ]);
        session.respond(&listing, json!({"tools": tools})).await;
        let call = session.expect("tools/call").await;
        assert_eq!(call.params()["_meta"]["dev.bowline/session-id"], 1);
        session.respond(&call, said("again")).await;
    };
    let using = async {
        client.tools().list().await.expect("there are tools");
        client.tools().call("remembers", json!({})).await
    };
    let (result, ()) = tokio::join!(using, serving);
    result.expect("an answer");
}

#[tokio::test(start_paused = true)]
async fn arguments_are_completed() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("completion/complete").await;
        let argument = json!({"name": "city", "value": "Li"});
        assert_eq!(request.params()["argument"], argument);
        let values = json!({"completion": {"values": ["Lisbon", "Lima"]}});
        session.respond(&request, values).await;
    };
    let trip = Reference::Prompt(PromptReference::new("trip"));
    let asking = async { client.complete(trip, "city", "Li").await };
    let (result, ()) = tokio::join!(asking, answering);
    let completion = result.expect("an answer").completion;
    assert_eq!(completion.values, ["Lisbon", "Lima"]);
}

#[tokio::test(start_paused = true)]
async fn a_trace_context_travels_beside_the_parameters_in_both_eras() {
    for profile in [ServerProfile::handshake(), ServerProfile::stateless()] {
        let (client, mut session, _server) = connected(profile).await;
        let answering = async {
            let request = session.expect("tools/call").await;
            assert_eq!(request.params()["_meta"]["traceparent"], TRACE);
            session.respond(&request, said("traced")).await;
        };
        let mut meta = Meta::new();
        meta.set_traceparent(TRACE);
        let call = async { client.tools().call("any", json!({})).meta(meta).await };
        let (result, ()) = tokio::join!(call, answering);
        result.expect("an answer");
    }
}

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
