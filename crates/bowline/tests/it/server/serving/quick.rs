//! Tools that have been quick, and run where their calls are read, until one
//! day they are not.

use std::sync::Arc;

use bowline::server::{Result, Server, Service, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::Raw;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum What {
    Return,
    Wait,
    Fail,
    Panic,
}

#[derive(Deserialize, JsonSchema)]
struct Wish {
    what: What,
}

/// A tool that does what it is told, and says when it is dropped.
fn obedient() -> (Service, Arc<Semaphore>, mpsc::UnboundedReceiver<()>) {
    let gate = Arc::new(Semaphore::new(0));
    let open = Arc::clone(&gate);
    let (sender, dropped) = mpsc::unbounded_channel();
    let tool = Tool::new("obey")
        .description("Does what it is told")
        .input::<Wish>()
        .handler(move |wish| {
            let (open, sender) = (Arc::clone(&open), sender.clone());
            async move {
                match wish.what {
                    What::Return => {}
                    What::Wait => {
                        let _guard = Guard(sender);
                        open.acquire().await?.forget();
                    }
                    What::Fail => return Err(bowline::server::Error::failed("as it should")),
                    What::Panic => panic!("as it should"),
                }
                Ok("done")
            }
        });
    let server = Server::new("test", "1").tool(tool);
    (server.build().expect("the server is sound"), gate, dropped)
}

struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn wish(what: &str) -> Value {
    json!({"name": "obey", "arguments": {"what": what}})
}

/// Calls it often enough for everybody to believe that it is quick.
async fn quick(raw: &mut Raw) {
    for _ in 0..200 {
        let result = raw.result("tools/call", wish("return")).await;
        assert_eq!(result["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn a_quick_tool_that_waits_keeps_nobody_waiting() {
    let (service, gate, _dropped) = obedient();
    let mut raw = Raw::stateless(&service);
    quick(&mut raw).await;
    let waits = raw.send("tools/call", wish("wait")).await;
    quick(&mut raw).await;
    gate.add_permits(1);
    assert_eq!(
        raw.answer(waits).await["result"]["content"][0]["text"],
        "done"
    );
}

#[tokio::test]
async fn a_quick_tool_that_waits_is_dropped_when_its_call_is_called_off() {
    let (service, _gate, mut dropped) = obedient();
    let mut raw = Raw::stateless(&service);
    quick(&mut raw).await;
    let waits = raw.send("tools/call", wish("wait")).await;
    quick(&mut raw).await;
    raw.notify("notifications/cancelled", json!({"requestId": waits}))
        .await;
    assert_eq!(dropped.recv().await, Some(()));
    quick(&mut raw).await;
}

#[tokio::test]
async fn a_quick_tool_that_waits_is_dropped_with_its_client() {
    let (service, _gate, mut dropped) = obedient();
    let mut raw = Raw::stateless(&service);
    quick(&mut raw).await;
    raw.send("tools/call", wish("wait")).await;
    quick(&mut raw).await;
    drop(raw);
    assert_eq!(dropped.recv().await, Some(()));
}

#[tokio::test]
async fn a_quick_tool_that_fails_or_panics_takes_nobody_along() -> Result<()> {
    let (service, _gate, _dropped) = obedient();
    let mut raw = Raw::stateless(&service);
    for _ in 0..3 {
        quick(&mut raw).await;
        let failed = raw.result("tools/call", wish("fail")).await;
        assert_eq!(failed["isError"], true);
        let panicked = raw.send("tools/call", wish("panic")).await;
        let panicked = raw.answer(panicked).await;
        assert!(
            panicked["error"].is_object() || panicked["result"]["isError"] == true,
            "{panicked}"
        );
    }
    Ok(())
}
