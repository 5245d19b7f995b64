//! Arguments that travel in headers, too.

use std::sync::{Arc, Mutex};

use bowline::proto::client::TelemetryEvent;
use serde_json::{Value, json};

use super::rig::{Hit, Reply, Rig, builder, stateless};
use crate::sync::lock;

fn tool(name: &str, kind: &str) -> Value {
    let properties = json!({
        "place": {"type": kind, "x-mcp-header": "Place"},
        "deep": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
        "query": {"type": "string"},
    });
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

/// A server that lists these tools on two pages, and insists on the headers.
async fn server() -> Rig {
    stateless(|hit| match &*hit.rpc() {
        "tools/list" => Some(list(hit)),
        "tools/call" if hit.json()["params"]["arguments"]["place"].is_string() => {
            let refusal = hit.error(-32020, "header mcp-param-place is missing");
            let refused = || Reply::new(400, "application/json", refusal);
            hit.header("mcp-param-place").is_none().then(refused)
        }
        _ => None,
    })
    .await
}

fn list(hit: &Hit) -> Reply {
    let mut page = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "public"});
    if hit.json()["params"]["cursor"].is_null() {
        page["tools"] = json!([tool("first", "string"), tool("faulty", "number")]);
        page["nextCursor"] = json!("two");
    } else {
        page["tools"] = json!([tool("second", "string")]);
    }
    Reply::json(hit.result(&page))
}

#[tokio::test]
async fn annotated_arguments_are_mirrored_once_the_tool_was_listed() {
    let rig = server().await;
    let client = rig.client().await;
    client.tools().list().await.expect("a list");
    for name in ["first", "second"] {
        let arguments = json!({"place": "São Paulo", "deep": {"count": 42}, "query": "q"});
        client
            .tools()
            .call(name, arguments)
            .await
            .expect("an answer");
        let hits = rig.named("tools/call");
        let hit = hits.last().expect("a call");
        assert_eq!(
            hit.header("mcp-param-place"),
            Some("=?base64?U8OjbyBQYXVsbw==?=")
        );
        assert_eq!(hit.header("mcp-param-count"), Some("42"));
        assert_eq!(hit.header_names("mcp-param-").len(), 2);
    }
    let arguments = json!({"place": null, "query": "q"});
    client
        .tools()
        .call("first", arguments)
        .await
        .expect("an answer");
    let last = rig.named("tools/call").pop().expect("a call");
    assert!(last.header_names("mcp-param-").is_empty());
    assert_eq!(
        rig.named("tools/list").len(),
        2,
        "nothing had to be asked again"
    );
}

#[tokio::test]
async fn a_tool_that_was_not_listed_is_looked_up_when_the_server_misses_the_headers() {
    let rig = server().await;
    let client = rig.client().await;
    let arguments = json!({"place": "here"});
    client
        .tools()
        .call("second", arguments)
        .await
        .expect("an answer");
    assert_eq!(
        rig.asked()[1..],
        ["tools/call", "tools/list", "tools/list", "tools/call"]
    );
    assert_eq!(
        rig.named("tools/call")[1].header("mcp-param-place"),
        Some("here")
    );
}

#[tokio::test]
async fn a_server_that_goes_on_refusing_is_believed() {
    let rig = stateless(|hit| {
        let refusal = hit.error(-32020, "no");
        (hit.rpc() == "tools/call").then(|| Reply::new(400, "application/json", refusal))
    })
    .await;
    let client = rig.client().await;
    let error = client
        .tools()
        .call("x", json!({}))
        .await
        .expect_err("refused");
    assert_eq!(error.server_error().map(|error| error.code), Some(-32020));
    assert_eq!(rig.named("tools/call").len(), 2);
}

#[tokio::test]
async fn a_faulty_tool_is_dropped_from_the_list_and_told() {
    let rig = server().await;
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&seen);
    let builder = builder().observer(move |telemetry| {
        if let TelemetryEvent::ToolDropped { tool, .. } = &telemetry.event {
            lock(&told).push(tool.to_string());
        }
    });
    let client = builder.connect(rig.http()).await.expect("it connects");
    let tools = client.tools().list().await.expect("a list");
    let names: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["first", "second"]);
    assert_eq!(*lock(&seen), ["faulty"]);
}

#[tokio::test]
async fn a_value_that_no_header_can_carry_is_not_sent() {
    let rig = server().await;
    let client = rig.client().await;
    client.tools().list().await.expect("a list");
    let call = client
        .tools()
        .call("first", json!({"place": {"not": "text"}}));
    let error = call.await.expect_err("it could only be refused");
    assert!(format!("{error:#}").contains("mcp-param-place"), "{error}");
    assert!(!format!("{error:#}").contains("not sent"), "{error}");
    assert!(rig.named("tools/call").is_empty());
}
