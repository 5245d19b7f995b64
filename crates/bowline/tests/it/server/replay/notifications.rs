//! Progress and log messages: each is told once, as it is where servers ask
//! while a call is open.

use std::time::Duration;

use bowline::{
    proto::model::LogLevel,
    server::{Conversation, Server, Service, Tool},
    transport::MemoryLink,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always},
};

fn serve(tool: Tool<App>) -> Service<App> {
    let server = Server::new("telling", "1").state(App::default());
    server.tool(tool).build().expect("the server is sound")
}

/// Says something before and after each of three questions, in steps, and
/// beside questions.
fn report() -> Tool<App> {
    Tool::new("report")
        .description("Says how it goes")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let mut told = 0_u8;
            let mut tell = |what: &str| {
                told += 1;
                cx.progress_with_message(f64::from(told), 20.0, what);
                cx.log(LogLevel::Info, &format!("{told}: {what}"));
            };
            tell("begin");
            for round in ["one", "two", "three"] {
                tell(round);
                cx.elicit::<Text>(round).required().await?;
                tell("answered");
                let server = cx.context();
                let step = async {
                    server.log(LogLevel::Info, "in a step");
                    sleep(Duration::from_secs(1)).await;
                    server.log(LogLevel::Info, "still in it");
                    Ok(())
                };
                cx.step("step", step).await?;
            }
            tell("end");
            Ok("done")
        })
}

/// What a notification says.
fn words(frame: &Value) -> String {
    let params = &frame["params"];
    match frame["method"].as_str() {
        Some("notifications/progress") => {
            format!("{} {}", params["progress"], params["message"])
        }
        _ => params["data"].to_string(),
    }
}

/// What is told on 2025-11-25, by a client that says yes to everything.
async fn live(service: &Service<App>) -> Vec<String> {
    let (mut link, far) = MemoryLink::pair();
    let serving = service.clone();
    tokio::spawn(async move { serving.serve(far).await });
    let initialize = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "rig", "version": "1"},
        "capabilities": {"elicitation": {}}
    });
    let call = json!({
        "name": "report", "arguments": {}, "_meta": {"progressToken": "p"}
    });
    for frame in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "info"}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}),
    ] {
        assert!(link.send_frame(frame.to_string().into()).await);
    }
    let mut told = Vec::new();
    loop {
        let frame = link.recv().await.expect("a frame");
        let frame: Value = serde_json::from_slice(&frame).expect("JSON");
        if frame["method"] == "elicitation/create" {
            let result = json!({"action": "accept", "content": {"text": "yes"}});
            let answer = json!({"jsonrpc": "2.0", "id": frame["id"], "result": result});
            assert!(link.send_frame(answer.to_string().into()).await);
        } else if frame["id"] == 3 {
            return told;
        } else if frame["method"].is_string() {
            told.push(words(&frame));
        }
    }
}

/// A client of the stateless era that wants to be told everything.
fn curious(service: &Service<App>) -> Peer {
    let mut peer = Peer::new(service);
    peer.meta["progressToken"] = "p".into();
    peer.meta["io.modelcontextprotocol/logLevel"] = "info".into();
    peer
}

#[tokio::test(start_paused = true)]
async fn everything_is_told_once_and_in_order() {
    let expected = live(&serve(report())).await;
    assert_eq!(expected.len(), 22, "{expected:?}");
    let service = serve(report());
    let mut peer = curious(&service);
    let end = peer.run(&Called::new("report"), always("yes")).await;
    assert_eq!(end.text().0, "done");
    let told: Vec<_> = peer.told.iter().map(words).collect();
    assert_eq!(told, expected);
}

/// Who repeats a round has missed what it said, so that it may be told again;
/// what was told in earlier rounds was answered to, and is not.
#[tokio::test(start_paused = true)]
async fn what_was_told_in_earlier_rounds_is_not_told_again() {
    let service = serve(report());
    let called = Called::new("report");
    let mut peer = curious(&service);
    let mut round = peer.begin(&called).await;
    let mut before: Vec<String> = Vec::new();
    while let Round::Asked(asked) = round {
        before.extend(peer.told.drain(..).map(|frame| words(&frame)));
        let answers = asked.answers(always("yes"));
        peer.go_on(&called, &asked.state, &answers).await;
        round = peer.go_on(&called, &asked.state, &answers).await;
        for told in peer.told.iter().map(words) {
            // All that is told twice in this tool is told in its steps.
            let again = before.contains(&told) && !told.contains("in ");
            assert!(!again, "{told} again");
        }
    }
}
