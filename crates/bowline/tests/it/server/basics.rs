//! One client, one server, the simplest of each.

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{ElicitParams, ElicitResult},
        revision::Revision,
    },
    server::{Conversation, Elicited, Server, Service, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Whom to greet.
    name: String,
}

#[derive(Elicit)]
struct Colour {
    /// Which colour?
    colour: String,
}

fn service() -> Service {
    let hello = Tool::new("hello")
        .description("Says hello")
        .input::<Greeting>()
        .handler(async |greeting| Ok(format!("Hello, {}!", greeting.name)));
    let paint = Tool::new("paint")
        .description("Asks twice")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let first = cx.elicit::<Colour>("First?").required().await?;
            match cx.elicit::<Colour>("Second?").await? {
                Elicited::Accepted(second) => Ok(format!("{} and {}", first.colour, second.colour)),
                _ => Ok(format!("only {}", first.colour)),
            }
        });
    Server::new("test", "1")
        .tool(hello)
        .tool(paint)
        .build()
        .expect("the server is sound")
}

async fn client(service: &Service, revision: Revision) -> Client {
    let answer = |params: ElicitParams| async move {
        let colour = if params.message == "First?" {
            "red"
        } else {
            "blue"
        };
        ElicitResult::accept(RawJson::encode(&json!({"colour": colour})).expect("JSON"))
    };
    Client::builder()
        .revisions([revision])
        .on_elicit(answer)
        .connect(service.in_memory())
        .await
        .expect("it connects")
}

#[tokio::test]
async fn a_tool_says_hello_in_every_revision() {
    let service = service();
    for revision in Revision::ALL {
        let client = client(&service, revision).await;
        let tools = client.tools().list().await.unwrap();
        assert_eq!(tools.len(), 2, "{revision}");
        let result = client
            .tools()
            .call("hello", json!({"name": "Ada"}))
            .await
            .unwrap();
        assert_eq!(result.all_text(), "Hello, Ada!", "{revision}");
    }
}

#[tokio::test]
async fn a_tool_asks_live_and_by_replay() {
    let service = service();
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let client = client(&service, revision).await;
        let result = client.tools().call("paint", json!({})).await.unwrap();
        assert_eq!(result.all_text(), "red and blue", "{revision}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model() {
    let service = service();
    let client = client(&service, Revision::V2025_11_25).await;
    let result = client
        .tools()
        .call("hello", json!({"name": 7}))
        .await
        .unwrap();
    assert!(result.is_error());
    assert_eq!(
        result.all_text(),
        "Invalid arguments\n- at /name: 7 is not of type \"string\""
    );
}
