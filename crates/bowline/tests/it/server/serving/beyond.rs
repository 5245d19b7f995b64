//! What is not in the protocol, and what clients say by themselves.

use std::sync::Arc;

use bowline::{
    proto::{model::Root, revision::Revision},
    server::{Error, HandlerContext, NotificationContext, Result, Server},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use super::{Raw, connect};

#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Serialize)]
struct Total {
    total: i64,
}

#[tokio::test]
async fn methods_beyond_the_protocol_are_served_in_both_eras() {
    let service = Server::new("test", "1")
        .method("acme/before", async |_: Value, _cx: HandlerContext| Ok(()))
        .state(100_i64)
        .method("acme/add", async |sum: Sum, cx: HandlerContext<i64>| {
            Ok(Total {
                total: cx.state() + sum.a + sum.b,
            })
        })
        .method("acme/list", async |_: Value, _cx| Ok(vec![1]))
        .method("acme/fail", async |_: Value, _cx| -> Result<()> {
            Err(Error::failed("not today"))
        })
        .build()
        .unwrap();
    for stateless in [true, false] {
        let mut raw = match stateless {
            true => Raw::stateless(&service),
            false => Raw::session(&service, "2025-11-25").await,
        };
        let result = raw.result("acme/add", json!({"a": 1, "b": 2})).await;
        assert_eq!(result["total"], 103);
        let complete = stateless.then(|| json!("complete"));
        assert_eq!(result.get("resultType"), complete.as_ref());
        raw.result("acme/before", json!({})).await;
        for (method, params, code, message) in [
            (
                "acme/add",
                json!({"a": 1}),
                -32602,
                "Invalid params: missing field `b`",
            ),
            (
                "acme/list",
                json!({}),
                -32603,
                "The result must be an object",
            ),
            ("acme/fail", json!({}), -32603, "not today"),
            (
                "acme/none",
                json!({}),
                -32601,
                "Method not found: acme/none",
            ),
        ] {
            let error = raw.error(method, params).await;
            assert_eq!(error["code"], code, "{method}");
            assert!(
                error["message"].as_str().unwrap().starts_with(message),
                "{error}"
            );
        }
    }
}

#[test]
fn methods_of_the_protocol_and_two_of_one_name_are_refused() {
    let work = async |_: Value, _cx: HandlerContext| Ok(());
    let error = Server::new("test", "1").method("tools/list", work).build();
    let error = error.unwrap_err();
    assert_eq!(error.name(), "tools/list");
    let twice = Server::new("test", "1")
        .method("a/b", work)
        .method("a/b", work);
    assert_eq!(twice.build().unwrap_err().name(), "a/b");
}

#[tokio::test]
async fn changed_roots_are_heard_of() {
    let heard = Arc::new(Notify::new());
    let service = Server::new("test", "1")
        .state(Arc::clone(&heard))
        .on_roots_changed(async |notice: NotificationContext<Arc<Notify>>| {
            notice.state().notify_one();
        })
        .build()
        .unwrap();
    let client = connect(&service, Revision::V2025_11_25, |builder| {
        builder.roots([Root::new("file:///a")])
    })
    .await;
    client.set_roots([Root::new("file:///b")]);
    heard.notified().await;
}

#[tokio::test]
async fn notifications_are_heard_one_after_the_other() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let service = Server::new("test", "1")
        .on_notification("acme/note", move |notice: NotificationContext| {
            let sender = sender.clone();
            async move {
                let params: Value = notice.params().unwrap();
                for _ in 0..params["n"].as_u64().unwrap() {
                    tokio::task::yield_now().await;
                }
                let _ = sender.send((notice.method().to_owned(), params["n"].clone()));
            }
        })
        .build()
        .unwrap();
    let mut raw = Raw::session(&service, "2025-11-25").await;
    for n in [9, 5, 0] {
        raw.notify("acme/note", json!({"n": n})).await;
    }
    for n in [9, 5, 0] {
        let expected = ("acme/note".to_owned(), json!(n));
        assert_eq!(receiver.recv().await, Some(expected));
    }
    assert_eq!(raw.error("acme/note", json!({})).await["code"], -32601);
}
