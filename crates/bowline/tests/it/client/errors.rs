//! What people read when something went wrong.

use std::time::Duration;

use bowline::{
    Client, Error,
    proto::{
        ErrorKind, Reason, client::ConnectionState, jsonrpc::ErrorObject, model::CallToolResult,
    },
    testing::{FakeServer, ServerProfile},
};
use serde_json::json;

use super::connected;

#[tokio::test(start_paused = true)]
async fn errors_read_as_sentences() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("tools/call").await;
        session
            .respond_error(&request, ErrorObject::new(-32602, "Unknown tool: x"))
            .await;
        let request = session.expect("resources/read").await;
        session
            .respond(&request, json!({"contents": [{"uri": 7}]}))
            .await;
        let request = session.expect("tools/call").await;
        session
            .send(json!({"jsonrpc": "2.0", "id": request.id(), "result": 3, "error": 4}))
            .await;
    };
    let asking = async {
        let refused = client
            .tools()
            .call("x", json!({}))
            .await
            .expect_err("refused");
        let misshapen = client.resources().read("u:x").await.expect_err("misshapen");
        let neither = client
            .tools()
            .call("y", json!({}))
            .await
            .expect_err("neither");
        (refused, misshapen, neither)
    };
    let ((refused, misshapen, neither), ()) = tokio::join!(asking, answering);
    assert_eq!(
        refused.to_string(),
        "tools/call: the server returned an error: Unknown tool: x (code -32602)",
    );
    let text = format!("{misshapen:#}");
    assert!(
        text.starts_with("resources/read: invalid response: "),
        "{text}"
    );
    assert!(
        text.contains("contents[0].uri"),
        "the path of the fault: {text}"
    );
    assert_eq!(neither.reason(), Reason::InvalidResponse);
    let text = neither.to_string();
    assert!(text.starts_with("tools/call: invalid response: "), "{text}");
    assert!(
        format!("{refused:?}").contains("Unknown tool: x"),
        "debug, too"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_down_says_so() {
    let (client, session, _server) = connected(ServerProfile::handshake()).await;
    session.close();
    let mut health = client.watch_health();
    let down = health.wait_for(|health| health.state == ConnectionState::Backoff);
    drop(down.await.expect("it lives"));
    let error = client.ping().await.expect_err("it is down");
    let text = format!("{error:#}");
    assert!(
        text.contains("not open (backoff); next attempt in"),
        "{text}"
    );
    assert!(
        text.contains("the server closed the connection"),
        "last disconnect: {text}"
    );
    assert!(error.connection_error().is_some());
}

/// Prints an error as programs do that know nothing of ours: each source after the
/// error itself.
fn printed(error: &dyn std::error::Error) -> Vec<String> {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn each_level_of_an_error_is_printed_once() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let read = session.expect("resources/read").await;
        let result = json!({"contents": [{"uri": 7}]});
        session.respond(&read, result).await;
        session.expect("tools/call").await;
        session.close();
    };
    let asking = async {
        let misshapen = client.resources().read("u:x").await.expect_err("misshapen");
        let lost = client.tools().call("x", json!({})).await;
        (misshapen, lost.expect_err("it is lost"))
    };
    let ((misshapen, lost), ()) = tokio::join!(asking, answering);
    let down = client.ping().await.expect_err("it is down");
    let keys: std::collections::HashMap<Vec<u8>, u8> = [(vec![1], 1)].into();
    let no_json = client.tools().call("x", keys).await.expect_err("no JSON");
    for (error, levels) in [
        (
            misshapen,
            ["resources/read: invalid response", "contents[0].uri"],
        ),
        (
            lost,
            [
                "tools/call: the connection was lost",
                "the server closed the connection",
            ],
        ),
        (
            down,
            [
                "ping: the connection is not open (backoff); next attempt in",
                "the server closed the connection",
            ],
        ),
        (
            no_json,
            [
                "tools/call: the parameters cannot be written as JSON",
                "the value cannot be serialised: key must be a string",
            ],
        ),
    ] {
        let printed = printed(&error);
        assert_eq!(printed.len(), levels.len(), "{printed:?}");
        for (printed, level) in printed.iter().zip(levels) {
            assert!(printed.starts_with(level), "{printed}");
        }
        // The levels share no words: no level repeats the next one.
        assert!(!printed[0].contains(&printed[1]), "{printed:?}");
        assert_eq!(format!("{error:#}"), printed.join(": "));
        assert!(format!("{error:?}").contains(&printed[1]), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_of_no_common_version_is_named() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let answering = async {
        let mut link = server.accept().await;
        let probe = link.expect("server/discover").await;
        link.respond_error(&probe, ErrorObject::new(-32601, "no"))
            .await;
        let initialize = link.expect("initialize").await;
        let result = json!({
            "protocolVersion": "1999-01-01",
            "capabilities": {},
            "serverInfo": {"name": "old", "version": "1"},
        });
        link.respond(&initialize, result).await;
        link.wait_closed().await;
    };
    let (result, ()) = tokio::join!(Client::builder().connect(transport), answering);
    let error = result.expect_err("no common version");
    assert_eq!(
        format!("{error:#}"),
        "not connected: no common protocol version; the server supports 1999-01-01",
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_over_the_limit_is_refused_here() {
    let builder = Client::builder().max_frame_size(1000);
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let (client, _session) = tokio::join!(builder.connect(transport), server.session());
    let client = client.expect("it opens");
    let large = "x".repeat(2000);
    let call = client.tools().call("any", json!({"large": large}));
    let error = call
        .timeout(Duration::from_secs(1))
        .await
        .expect_err("too large");
    assert_eq!(error.reason(), Reason::OversizedFrame);
    assert!(
        format!("{error:#}").contains("exceeds the limit of 1000"),
        "{error}"
    );
    assert!(!error.is_connection_error());
    assert_eq!(client.state(), ConnectionState::Ready);
}

#[tokio::test(start_paused = true)]
async fn what_there_is_not_is_told_from_what_does_not_fit() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        for (method, message) in [
            ("tools/call", "Unknown tool: x"),
            ("tools/call", "argument x not found"),
            ("prompts/get", "Prompt x not found"),
        ] {
            let request = session.expect(method).await;
            let error = ErrorObject::new(-32602, message);
            session.respond_error(&request, error).await;
        }
    };
    let asking = async {
        let mut reasons = Vec::new();
        for _ in 0..2 {
            let refused = client.tools().call("x", json!({})).await;
            reasons.push(refused.expect_err("refused").reason());
        }
        let refused = client.prompts().get("x", [("a", "b")]).await;
        reasons.push(refused.expect_err("refused").reason());
        reasons
    };
    let (reasons, ()) = tokio::join!(asking, answering);
    let expected = [
        Reason::ToolNotFound,
        Reason::InvalidParams,
        Reason::PromptNotFound,
    ];
    assert_eq!(reasons, expected);
}

#[tokio::test(start_paused = true)]
async fn that_a_tool_failed_can_be_an_error() {
    fn strictly(result: CallToolResult) -> Result<CallToolResult, Error> {
        Ok(result.into_result()?)
    }
    let fine = CallToolResult::text("sunny");
    assert_eq!(strictly(fine.clone()).expect("it did not fail"), fine);
    let error = strictly(CallToolResult::failure("no such place")).expect_err("it failed");
    assert_eq!(error.reason(), Reason::ToolExecutionFailed);
    assert_eq!(format!("{error:#}"), "the tool failed: no such place");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_no_object_are_the_callers_mistake() {
    let (client, _session, _server) = connected(ServerProfile::handshake()).await;
    let keys: std::collections::HashMap<Vec<u8>, u8> = [(vec![1], 1)].into();
    let error = client.tools().call("any", keys).await.expect_err("no JSON");
    assert_eq!(error.reason(), Reason::InvalidParams);
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(!error.is_connection_error() && !error.is_transient());
}
