//! Arguments that a tool wants mirrored in headers.

use bowline::server::{Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::rig::{Answer, Node, stateless};

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

fn node() -> Node {
    let tool = Tool::new("store")
        .description("Says where it keeps things")
        .input::<Place>()
        .handler(async |place| Ok(place.region));
    let service = Server::new("test", "1").tool(tool).build();
    Node::new(&service.expect("the server is sound"))
}

/// Calls the tool with arguments that are written as they are, and a header.
async fn store(node: &Node, arguments: &str, region: &str) -> Answer {
    let (request, body) = stateless("tools/call", json!({"name": "store", "arguments": 7}));
    let body = body.replace("\"arguments\":7", arguments);
    node.send(request.header("mcp-param-region", region), body)
        .await
}

#[tokio::test(start_paused = true)]
async fn the_header_says_what_the_argument_says() {
    let node = node();
    let answer = store(&node, r#""arguments":{"region":"eu"}"#, "eu").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.json().await["result"]["content"][0]["text"], "eu");
    let answer = store(&node, r#""arguments":{"region":"us"}"#, "eu").await;
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.error().await["code"], -32020);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_come_twice_do_not_get_around_that() {
    let node = node();
    for twice in [
        r#""arguments":{"region":"eu"},"arguments":{"region":"us"}"#,
        r#""arguments":{"region":"eu"},"arg\u0075ments":{"region":"us"}"#,
        r#""arguments":{"region":"us"},"arguments":{"region":"eu"}"#,
        r#""arguments":{"region":"eu","region":"us"}"#,
    ] {
        let answer = store(&node, twice, "eu").await.json().await;
        assert_eq!(answer.get("result"), None, "{twice}");
        let code = answer["error"]["code"].as_i64();
        assert!([Some(-32602), Some(-32020)].contains(&code), "{answer}");
    }
}
