//! One client, one server, the simplest of each.

use bowline::{
    Client,
    client::progress_channel,
    proto::{
        jsonrpc::RawJson,
        model::{ElicitParams, ElicitResult, Number},
        revision::Revision,
    },
    server::{Conversation, Elicited, HandlerContext, Server, Service, Tool, form::Elicit},
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
async fn a_handler_with_a_context_uses_the_state_and_reports_progress() {
    struct Harbour {
        boats: u32,
    }
    let count = Tool::new("count")
        .description("Counts the boats")
        .input::<Greeting>()
        .handler_with_context(async |greeting: Greeting, cx: HandlerContext<Harbour>| {
            let boats = cx.state().boats;
            let sent = cx.progress(1.0, 2.0);
            Ok(format!("{}: {boats} {} {sent}", greeting.name, cx.name()))
        });
    let server = Server::new("harbour", "1").state(Harbour { boats: 7 });
    let service = server.tool(count).build().expect("the server is sound");
    for revision in Revision::ALL {
        let builder = Client::builder().revisions([revision]);
        let client = builder.connect(service.in_memory()).await.unwrap();
        let (sender, mut progress) = progress_channel();
        let call = client.tools().call("count", json!({"name": "Ada"}));
        let result = call.progress_to(sender).await.unwrap();
        assert_eq!(result.all_text(), "Ada: 7 count true", "{revision}");
        let report = progress.recv().await.expect("it was reported");
        let total = report.total.map(Number::as_f64);
        assert_eq!((report.progress.as_f64(), total), (1.0, Some(2.0)));
        assert!(progress.recv().await.is_none(), "{revision}");
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
