//! `@modelcontextprotocol/server-everything`: what it offers when asked.

use bowline::proto::{
    Reason,
    model::{
        CompleteArgument, CompleteContext, CompleteParams, ContentBlock, Number, PromptReference,
        Reference, ResourceReference, Role,
    },
    revision::{Revision, handshake_revisions},
};
use serde_json::json;

use super::rig::{Checked, Fault, Peer, builder, node, text_of, within};

async fn everything() -> Result<Peer, Fault> {
    Peer::open(builder(), node("mcp-server-everything")?).await
}

#[tokio::test]
async fn it_opens_by_handshake_and_describes_itself() -> Checked {
    within(async {
        let peer = everything().await?;
        assert_eq!(peer.revision(), Some(Revision::V2025_11_25));
        assert_eq!(peer.name(), "mcp-servers/everything 2.0.0");
        let server = peer.server_info().ok_or("no server")?;
        let instructions = server.instructions.as_deref().unwrap_or_default();
        assert!(instructions.contains("Everything Server"), "{instructions}");
        for capability in ["logging", "completions", "resources.subscribe", "tasks"] {
            assert!(server.has_capability(capability), "{capability}");
        }
        assert_eq!(peer.frames.sent("server/discover").len(), 1, "the probe");
        peer.ping().await?;
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn it_speaks_every_revision_with_a_handshake() -> Checked {
    within(async {
        for revision in handshake_revisions() {
            let only = builder().revisions([revision]);
            let peer = Peer::open(only, node("mcp-server-everything")?).await?;
            assert_eq!(peer.revision(), Some(revision));
            assert!(peer.frames.sent("server/discover").is_empty());
            let text = peer.text("echo", json!({"message": "ahoy"})).await?;
            assert_eq!(text, "Echo: ahoy");
            assert!(peer.tool_names().await?.len() >= 12);
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn tools_that_need_a_capability_are_not_offered_without_it() -> Checked {
    within(async {
        let peer = everything().await?;
        let names = peer.tool_names().await?;
        assert_eq!(names.len(), 13, "{names:?}");
        for absent in ["trigger-sampling-request", "get-roots-list"] {
            assert!(!names.iter().any(|name| name == absent), "{names:?}");
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn plain_and_structured_results_are_read() -> Checked {
    within(async {
        let process = node("mcp-server-everything")?.env("BOWLINE_PEER_TEST", "made fast");
        let peer = Peer::open(builder(), process).await?;
        let text = "quotes \" and \\ and\nlines, ünïcode 🪢, \u{2028}";
        let echoed = peer.text("echo", json!({"message": text})).await?;
        assert_eq!(echoed, format!("Echo: {text}"));
        let large = "knot ".repeat(200_000);
        let echoed = peer.text("echo", json!({"message": large})).await?;
        assert_eq!(echoed.len(), large.len() + "Echo: ".len());
        let sum = peer.text("get-sum", json!({"a": 2.5, "b": 40})).await?;
        assert_eq!(sum, "The sum of 2.5 and 40 is 42.5.");
        let env: serde_json::Value = peer.tools().call("get-env", json!({})).typed().await?;
        assert_eq!(env["BOWLINE_PEER_TEST"], "made fast");
        let weather = peer
            .value("get-structured-content", json!({"location": "Chicago"}))
            .await?;
        assert_eq!(weather["temperature"], 36);
        assert_eq!(weather["conditions"], "Light rain / drizzle");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn annotations_and_pictures_are_read() -> Checked {
    within(async {
        let peer = everything().await?;
        let arguments = json!({"messageType": "error", "includeImage": true});
        let result = peer
            .tools()
            .call("get-annotated-message", arguments)
            .await?;
        let [ContentBlock::Text(text), ContentBlock::Image(image)] = &result.content[..] else {
            return Err(format!("{:?}", result.content).into());
        };
        let hints = text.annotations.as_ref().ok_or("no annotations")?;
        assert_eq!(hints.audience, [Role::User, Role::Assistant]);
        assert_eq!(hints.priority.map(Number::as_f64), Some(1.0));
        assert_eq!(image.mime_type, "image/png");
        let result = peer.tools().call("get-tiny-image", json!({})).await?;
        let kinds: Vec<_> = result.content.iter().map(ContentBlock::kind).collect();
        assert_eq!(kinds, ["text", "image", "text"]);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn resources_come_as_links_and_by_value() -> Checked {
    within(async {
        let peer = everything().await?;
        let call = peer.tools().call("get-resource-links", json!({"count": 4}));
        let links: Vec<_> = (call.await?.content.into_iter())
            .filter_map(|block| match block {
                ContentBlock::ResourceLink(link) => Some(link.uri),
                _ => None,
            })
            .collect();
        assert_eq!(links.len(), 4);
        for link in &links {
            let read = peer.resources().read(link).await?;
            assert_eq!(&read.contents[0].uri, link);
        }
        for (kind, is_text) in [("Text", true), ("Blob", false)] {
            let arguments = json!({"resourceType": kind, "resourceId": 7});
            let call = peer.tools().call("get-resource-reference", arguments);
            let result = call.await?;
            let Some(ContentBlock::Resource(embedded)) = result.content.get(1) else {
                return Err(format!("{:?}", result.content).into());
            };
            assert_eq!(embedded.resource.text.is_some(), is_text);
            assert_eq!(embedded.resource.blob.is_some(), !is_text);
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn bad_calls_fail_and_harm_no_others() -> Checked {
    within(async {
        let peer = everything().await?;
        let text = peer.failure("get-sum", json!({"a": "one", "b": 2})).await?;
        assert!(text.contains("-32602"), "{text}");
        let text = peer.failure("echo", json!({})).await?;
        assert!(text.contains("message"), "{text}");
        let text = peer.failure("no-such-tool", json!({})).await?;
        assert!(text.contains("no-such-tool not found"), "{text}");
        let typed = peer.tools().call("no-such-tool", json!({}));
        let error = typed.typed::<serde_json::Value>().await.err();
        let reason = error.map(|error| error.reason());
        assert_eq!(reason, Some(Reason::ToolExecutionFailed));
        assert_eq!(
            peer.text("echo", json!({"message": "still here"})).await?,
            "Echo: still here"
        );
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn resources_are_listed_and_read() -> Checked {
    within(async {
        let peer = everything().await?;
        let resources = peer.resources().list().await?;
        assert_eq!(resources.len(), 7);
        for resource in &resources {
            let read = peer.resources().read(&resource.uri).await?;
            assert_eq!(read.contents[0].mime_type, resource.mime_type);
            let text = read.contents[0].text.as_deref().unwrap_or_default();
            assert!(text.contains('#'), "{} is Markdown", resource.uri);
        }
        let templates = peer.resources().templates().await?;
        let patterns: Vec<_> = templates
            .iter()
            .map(|it| it.uri_template.as_str())
            .collect();
        assert_eq!(
            patterns,
            [
                "demo://resource/dynamic/text/{resourceId}",
                "demo://resource/dynamic/blob/{resourceId}",
            ]
        );
        let read = peer.resources().read("demo://resource/dynamic/text/3");
        let text = read.await?.contents[0].text.clone().unwrap_or_default();
        assert!(text.starts_with("Resource 3: "), "{text}");
        let read = peer.resources().read("demo://resource/dynamic/blob/3");
        assert!(read.await?.contents[0].blob.is_some());
        let missing = peer.resources().read("demo://resource/nowhere").await;
        let reason = missing.err().map(|error| error.reason());
        assert_eq!(reason, Some(Reason::InvalidParams), "it has no better code");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() -> Checked {
    within(async {
        let peer = everything().await?;
        let prompts = peer.prompts().list().await?;
        let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "simple-prompt",
                "args-prompt",
                "completable-prompt",
                "resource-prompt"
            ]
        );
        let required: Vec<_> = prompts[1].arguments.iter().map(|it| it.required).collect();
        assert_eq!(required, [Some(true), Some(false)]);
        let none: [(&str, &str); 0] = [];
        let simple = peer.prompts().get("simple-prompt", none).await?;
        assert_eq!(simple.messages.len(), 1);
        let place = [("city", "Bergen"), ("state", "Vestland")];
        let filled = peer.prompts().get("args-prompt", place).await?;
        let text = filled.messages[0].content.as_text();
        assert_eq!(text, Some("What's weather in Bergen, Vestland?"));
        let which = [("resourceType", "Blob"), ("resourceId", "2")];
        let filled = peer.prompts().get("resource-prompt", which).await?;
        assert_eq!(filled.messages[1].content.kind(), "resource");
        for (name, expected) in [
            ("args-prompt", Reason::InvalidParams),
            ("no-such-prompt", Reason::PromptNotFound),
        ] {
            let error = peer.prompts().get(name, none).await.err();
            let reason = error.map(|error| error.reason());
            assert_eq!(reason, Some(expected), "{name}");
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn arguments_are_completed() -> Checked {
    within(async {
        let peer = everything().await?;
        let prompt = Reference::Prompt(PromptReference::new("completable-prompt"));
        let department = CompleteArgument::new("department", "S");
        let result = peer
            .request(CompleteParams::new(prompt.clone(), department))
            .await?;
        assert_eq!(result.completion.values, ["Sales", "Support"]);
        assert_eq!(result.completion.has_more, Some(false));
        let mut params = CompleteParams::new(prompt, CompleteArgument::new("name", ""));
        let mut context = CompleteContext::default();
        context.arguments = Some([("department", "Sales".to_owned())].into_iter().collect());
        params.context = Some(context);
        let result = peer.request(params).await?;
        assert_eq!(result.completion.values, ["David", "Eve", "Frank"]);
        let pattern = "demo://resource/dynamic/text/{resourceId}";
        let template = Reference::Resource(ResourceReference::new(pattern));
        for (typed, proposed) in [("12", vec!["12"]), ("twelve", vec![])] {
            let argument = CompleteArgument::new("resourceId", typed);
            let params = CompleteParams::new(template.clone(), argument);
            let result = peer.request(params).await?;
            assert_eq!(result.completion.values, proposed);
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn many_calls_at_once_are_told_apart() -> Checked {
    within(async {
        let peer = everything().await?;
        let client = (*peer).clone();
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..200 {
            let client = client.clone();
            calls.spawn(async move {
                let message = format!("call {number}");
                let arguments = json!({"message": message});
                let result = client.tools().call("echo", arguments).await;
                (message, result.map(|result| text_of(&result)))
            });
        }
        while let Some(done) = calls.join_next().await {
            let (message, echoed) = done?;
            assert_eq!(echoed?, format!("Echo: {message}"));
        }
        peer.close().await
    })
    .await
}
