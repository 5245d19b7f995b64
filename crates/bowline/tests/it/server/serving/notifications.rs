//! Progress, log messages and changes, and clients that do not listen.

use std::{sync::Arc, time::Duration};

use bowline::{
    proto::model::LogLevel,
    server::{Conversation, Resource, Server, Service, Tool},
    transport::MemoryLink,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Raw;

#[tokio::test]
async fn a_client_that_does_not_read_costs_little() {
    let (sender, done) = oneshot::channel();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let chatty = Tool::new("chatty")
        .description("Says much")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation| {
            let sender = Arc::clone(&sender);
            async move {
                let words = "x".repeat(1024);
                let mut told = 0;
                for step in 0..20_000 {
                    told += usize::from(cx.progress_with_message(f64::from(step), None, &words));
                    told += usize::from(cx.log(LogLevel::Error, &words));
                }
                let _ = sender.lock().unwrap().take().unwrap().send(told);
                Ok("done")
            }
        });
    let service = Server::new("test", "1").tool(chatty);
    let service = service
        .resource(Resource::new("a:1", "one").text("1"))
        .resource_subscriptions()
        .build()
        .unwrap();
    let mut raw = Raw::session(&service, "2025-11-25").await;
    raw.result("resources/subscribe", json!({"uri": "a:1"}))
        .await;
    let token = json!({"progressToken": "p"});
    let id = raw
        .send_with("tools/call", json!({"name": "chatty"}), token)
        .await;
    let told = done.await.unwrap();
    assert!(
        (1_000..4_000).contains(&told),
        "the rest is dropped: {told}"
    );
    for _ in 0..100_000 {
        service.resource_updated("a:1");
        service.tools_changed();
    }
    let mut frames = Vec::new();
    let answer = loop {
        let frame = raw.frame().await;
        if frame["id"] == id {
            break frame;
        }
        frames.push(frame);
    };
    assert_eq!(
        answer["result"]["content"][0]["text"], "done",
        "answers are kept"
    );
    assert_eq!(frames.len(), told, "what was said to be sent was sent");
    let mut news = [raw.frame().await, raw.frame().await];
    news.sort_by_key(|frame| frame["method"].as_str().map(str::to_owned));
    assert_eq!(news[0]["method"], "notifications/resources/updated");
    assert_eq!(news[1]["method"], "notifications/tools/list_changed");
    let id = raw.send("ping", json!({})).await;
    assert_eq!(raw.frame().await["id"], id, "each change is told once");
}

fn reporting() -> Service {
    let report = Tool::new("report")
        .description("Says how far it is")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let mut sent = Vec::new();
            for progress in [1.0, 1.0, 0.5, 2.0, f64::NAN, f64::INFINITY, 3.5] {
                sent.push(cx.progress_with_message(progress, 4.0, "going on"));
            }
            Ok(serde_json::to_string(&sent)?)
        });
    let log = Tool::new("log")
        .description("Logs at every level")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            for level in LogLevel::ALL {
                cx.log_with_logger("tool", level.clone(), &json!({"at": level.as_str()}));
            }
            Ok("logged")
        });
    Server::new("test", "1")
        .tool(report)
        .tool(log)
        .build()
        .expect("the server is sound")
}

#[tokio::test]
async fn progress_needs_a_token_and_only_increases() {
    let service = reporting();
    for stateless in [true, false] {
        let mut raw = match stateless {
            true => Raw::stateless(&service),
            false => Raw::session(&service, "2025-06-18").await,
        };
        let answer = raw.result("tools/call", json!({"name": "report"})).await;
        let none = "[false,false,false,false,false,false,false]";
        assert_eq!(answer["content"][0]["text"], none);
        assert!(raw.aside.is_empty(), "nothing was sent");
        let token = json!({"progressToken": 7});
        let id = raw
            .send_with("tools/call", json!({"name": "report"}), token)
            .await;
        for expected in [1.0, 2.0, 3.5] {
            let frame = raw.frame().await;
            let params = &frame["params"];
            assert_eq!(params["progressToken"], 7);
            assert_eq!(params["progress"].as_f64(), Some(expected));
            assert_eq!(params["total"].as_f64(), Some(4.0));
            assert_eq!(params["message"], "going on");
        }
        let answer = raw.frame().await;
        assert_eq!(answer["id"], id);
        let some = "[true,false,false,true,false,false,true]";
        assert_eq!(answer["result"]["content"][0]["text"], some);
    }
}

async fn logged(raw: &mut Raw, more: Value) -> Vec<String> {
    let id = raw
        .send_with("tools/call", json!({"name": "log"}), more)
        .await;
    let mut levels = Vec::new();
    loop {
        let frame = raw.frame().await;
        if frame["id"] == id {
            return levels;
        }
        let params = &frame["params"];
        assert_eq!(params["logger"], "tool");
        assert_eq!(params["data"]["at"], params["level"]);
        levels.push(params["level"].as_str().expect("a level").to_owned());
    }
}

#[tokio::test]
async fn log_messages_have_the_level_that_the_client_wants() {
    let service = reporting();
    let all: Vec<&str> = LogLevel::ALL.iter().map(LogLevel::as_str).collect();
    assert_eq!(all.len(), 8);
    let mut session = Raw::session(&service, "2025-11-25").await;
    assert_eq!(
        logged(&mut session, json!({})).await,
        all[1..],
        "from info on at first"
    );
    let mut stateless = Raw::stateless(&service);
    assert!(
        logged(&mut stateless, json!({})).await.is_empty(),
        "only who asks is told"
    );
    for (at, level) in all.iter().enumerate() {
        session
            .result("logging/setLevel", json!({"level": level}))
            .await;
        assert_eq!(logged(&mut session, json!({})).await, all[at..]);
        let wanted = json!({"io.modelcontextprotocol/logLevel": level});
        assert_eq!(logged(&mut stateless, wanted).await, all[at..]);
    }
    let error = session
        .error("logging/setLevel", json!({"level": "loud"}))
        .await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_cannot_hold_up_the_end() {
    let large = Tool::new("large")
        .description("Returns much")
        .no_input()
        .handler(async |_| Ok("x".repeat(1024 * 1024)));
    let service = Server::new("test", "1").tool(large).build().unwrap();
    let (mut near, far) = MemoryLink::pair();
    let serving = {
        let service = service.clone();
        tokio::spawn(async move { service.serve(far).await })
    };
    for id in 0..3 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "large", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }}});
        near.send_frame(call.to_string().into()).await;
    }
    assert!(
        near.recv().await.is_some(),
        "the others follow, and nobody reads them"
    );
    let began = tokio::time::Instant::now();
    service.stop(Duration::from_secs(1));
    serving.await.unwrap();
    // Time goes by by itself only where nobody is busy, so that this ends only
    // if waiting for the client keeps nobody busy.
    assert_eq!(began.elapsed().as_secs(), 5, "the server's own patience");
}
