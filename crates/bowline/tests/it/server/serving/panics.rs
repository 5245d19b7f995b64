//! Handlers that panic, of every kind.

use bowline::server::{
    Conversation, HandlerContext, NotificationContext, Prompt, Resource, ResourceSource,
    ResourceTemplate, Result, Server, Service, Tool,
    completion::{CompletionContext, Completions},
    prompt::Argument,
    resource::{ContentPart, ResourcePage},
};
use serde_json::{Value, json};

use super::Raw;

/// A source that is all panics.
struct Panics;

impl ResourceSource for Panics {
    async fn list(&self, _cursor: Option<&str>, _cx: &HandlerContext) -> Result<ResourcePage> {
        panic!("in a list")
    }

    async fn read(&self, _uri: &str, _cx: Conversation) -> Result<Option<Vec<ContentPart>>> {
        panic!("in a source")
    }

    fn is_subscribable(&self, _uri: &str) -> bool {
        panic!("when asked whether")
    }
}

fn panicking() -> Service {
    let tool = Tool::new("panics")
        .description("Panics")
        .no_input()
        .handler(async |_| -> Result<String> { panic!("in a tool") });
    let resource = Resource::new("panic:resource", "panics")
        .read(async |_cx: Conversation| -> Result<String> { panic!("in a resource") });
    let template = ResourceTemplate::new("panic:///{x}", "panics")
        .complete(
            "x",
            async |_, _cx: CompletionContext| -> Result<Completions> { panic!("in a completion") },
        )
        .read(async |variables, _cx: Conversation| Ok(variables["y"].to_owned()));
    let prompt = Prompt::new("panics")
        .argument(Argument::new("a"))
        .get(async |arguments, _cx: Conversation| Ok(arguments["a"].to_owned()));
    Server::new("test", "1")
        .tool(tool)
        .resource(resource)
        .template(template)
        .prompt(prompt)
        .resource_source(Panics)
        .resource_subscriptions()
        .method(
            "acme/panic",
            async |_: Value, _cx: HandlerContext| -> Result<()> { panic!("in a method") },
        )
        .on_notification("acme/panic", async |_: NotificationContext| {
            panic!("in a notice")
        })
        .build()
        .expect("the server is sound")
}

#[tokio::test]
async fn a_panic_is_the_end_of_its_own_call_alone() {
    let service = panicking();
    let template = json!({"type": "ref/resource", "uri": "panic:///{x}"});
    for stateless in [true, false] {
        let mut raw = match stateless {
            true => Raw::stateless(&service),
            false => Raw::session(&service, "2025-11-25").await,
        };
        let mut calls = vec![
            ("tools/call", json!({"name": "panics"})),
            ("resources/read", json!({"uri": "panic:resource"})),
            ("resources/read", json!({"uri": "panic:///1"})),
            ("resources/read", json!({"uri": "other:1"})),
            ("resources/list", json!({"cursor": "@0"})),
            ("prompts/get", json!({"name": "panics"})),
            (
                "completion/complete",
                json!({"ref": template, "argument": {"name": "x", "value": ""}}),
            ),
            ("acme/panic", json!({})),
        ];
        if !stateless {
            calls.push(("resources/subscribe", json!({"uri": "other:1"})));
        }
        raw.notify("acme/panic", json!({})).await;
        for (method, params) in calls {
            let error = raw.error(method, params).await;
            assert_eq!(error["code"], -32603, "{method}");
            let said = error["message"].as_str().unwrap();
            assert!(
                !said.contains("in a"),
                "what it panicked with stays here: {said}"
            );
        }
        raw.result("tools/list", json!({})).await;
    }
}
